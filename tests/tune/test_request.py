"""The request's text, as the node program reads it."""

from tests.tune.test_export import RINGS

from wireproof.model.tuning import Change, ChangeSet, Keep, decode_answer
from wireproof.tune.node import write_change_set


def test_the_text_of_a_change_set():
    wanted = ChangeSet(
        id="20260101-000000-ab12",
        by="root@head",
        timeout_s=60,
        changes=(
            Change(
                id="dirty", value="1 2", path="/proc/sys/vm/dirty_bytes", coupled=("/a b", "/c,d")
            ),
            Change(id="thp", value="madvise", path="/sys/x", form="choice"),
            RINGS,
        ),
        keeps=(Keep(path="/etc/sysctl.d/90-wireproof.conf", text="# a\nb = 1\n"),),
    )
    assert write_change_set(wanted).splitlines() == [
        "set id=20260101-000000-ab12 by=root@head timeout_s=60",
        (
            "change id=dirty kind=file value=1%202 path=/proc/sys/vm/dirty_bytes form=plain"
            " coupled=/a%20b,/c%2Cd"
        ),
        "change id=thp kind=file value=madvise path=/sys/x form=choice",
        (
            "change id=ring-rx/eth0 kind=command value=4096 read=ethtool,-g,eth0"
            " section=Current%20hardware%20settings key=RX write=ethtool,-G,eth0,rx,{value}"
        ),
        "keep path=/etc/sysctl.d/90-wireproof.conf text=#%20a%0Ab%20%3D%201%0A",
    ]


def test_answers_are_told_apart():
    change = decode_answer(b'{"frame":"change","id":"a","state":"left","seen":"7"}')
    assert change.state == "left"
    found = decode_answer(
        b'{"frame":"set","id":"s","state":"armed","by":"x","since":"t","deadline_s":5.5,'
        b'"timer":"alive","boot":"same"}'
    )
    assert found.deadline_s == 5.5
