"""Which set waits, and what is in force."""

import pytest

from wireproof.model.errors import BadInput
from wireproof.model.tuning import HostTuned, SetAnswer
from wireproof.tune.standing import in_force_first, waiting


def host(name: str, *sets: tuple[str, str], problem: str = "") -> HostTuned:
    answers = [SetAnswer(id=one, state=state, since=one) for one, state in sets]
    return HostTuned(host=name, sets=answers, problem=problem)


def test_what_is_in_force_comes_first():
    sets = [("1", "reverted"), ("2", "confirmed"), ("3", "reverted"), ("4", "armed")]
    shown = in_force_first(host("n1", *sets, ("5", "confirmed")))
    assert [one.id for one in shown.sets] == ["4", "5", "2", "3", "1"]


def test_the_set_that_waits_is_found_on_the_hosts_where_it_does():
    answers = [
        host("n1", ("1", "reverted"), ("2", "armed")),
        host("n2", ("1", "confirmed")),
        host("n3", problem="no route"),
    ]
    assert waiting(answers) == ("2", ("n1", "n3"))


def test_none_or_several_are_not_guessed():
    with pytest.raises(BadInput, match="no change set is waiting"):
        waiting([host("n1", ("1", "confirmed"), ("2", "partly"))])
    with pytest.raises(BadInput, match=r"2 change sets are waiting .*1, 2"):
        waiting([host("n1", ("1", "armed")), host("n2", ("2", "armed"))])
