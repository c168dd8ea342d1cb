"""What is promised of management controllers; the table of hostile ones is in tests/bmc."""

import copy
import pickle
import traceback
from pathlib import Path

import pytest
from tests.bmc.certificate import make_certificate
from tests.bmc.server import PASSWORD, Board, served

from wireproof.bmc import collect_firmware
from wireproof.bmc.session import BmcSession
from wireproof.cli.options import BMC
from wireproof.model.errors import WireproofError
from wireproof.model.tuning import Secret
from wireproof.store.snapshot import write_snapshot


def test_the_password_stays_where_it_is(tmp_path: Path) -> None:
    """The password of a BMC is never on a command line and never in a file, a snapshot, a message
    or an error of wireproof.
    """
    names = {name for option in BMC for name in option.opts}
    assert {name for name in names if "password" in name} == {"--bmc-password-file"}
    assert not [option for option in BMC if getattr(option, "envvar", None)]
    secret = Secret(PASSWORD)
    assert PASSWORD not in f"{secret} {secret!r} {[secret]} {Board({}, []).reached()!r}"
    for store in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            store(secret)
    certificate = make_certificate(tmp_path)
    board = Board({"Echo": f"it is {PASSWORD}"}, [{"AttributeName": PASSWORD}])
    with served(board, certificate):
        facts = collect_firmware([board.reached(certificate=certificate)])
        board.replies["GET", "/redfish/v1/Systems"] = lambda handler: handler.wfile.write(b"\n")
        with (
            pytest.raises(WireproofError) as failed,
            BmcSession(board.reached(certificate=certificate)) as session,
        ):
            session.get("/redfish/v1/Systems")
    write_snapshot(tmp_path / "n1.snap", facts)
    assert PASSWORD not in repr(facts)
    assert PASSWORD not in "".join(traceback.format_exception(failed.value))


def test_a_bmc_gets_the_password_once_and_only_the_right_one(tmp_path: Path) -> None:
    """A BMC gets its password once, after its certificate has been checked, and can neither block
    the program, fill its memory nor redirect it.
    """
    certificate = make_certificate(tmp_path)
    with served(Board({"A": "B"}, []), certificate) as board:
        collect_firmware([board.reached()])
        assert board.requests == [], "its certificate is not known"
        collect_firmware([board.reached("wrong", certificate)])
        assert board.logins == 1
