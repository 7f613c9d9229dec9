from __future__ import annotations

from gradcheck.model import Location, Target, TargetKind
from gradcheck.run.workers.suspects import TRIES_ALONE, Suspects
from tests.run.fakes import make_case


def test_the_users_code_has_one_chance_and_others_more() -> None:
    function = Target(TargetKind.FUNCTION, "a:f", Location("a.yaml", 1, 1))
    theirs, ours = make_case("theirs", target=function), make_case("ours")
    suspects = Suspects()
    suspects.add([theirs, ours])
    assert [suspects.next() for _ in range(2)] == [(theirs, True), (ours, TRIES_ALONE == 1)]
    assert not suspects
    for number in range(2, TRIES_ALONE + 1):
        suspects.add([ours])
        assert suspects.next() == (ours, number == TRIES_ALONE)


def test_what_is_dropped_has_all_its_chances_again() -> None:
    case = make_case("a")
    suspects = Suspects()
    for _ in range(TRIES_ALONE):
        suspects.add([case])
        suspects.next()
    suspects.add([case])
    assert suspects.drop() == [case]
    assert not suspects
    suspects.add([case])
    assert suspects.next() == (case, TRIES_ALONE == 1)
