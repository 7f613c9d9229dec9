from __future__ import annotations

from gradcheck.hunter.bandit import Arm, choose


def test_what_was_never_visited_comes_first_in_the_order_of_the_list() -> None:
    arms = {"a": Arm(visits=3, paid=100), "b": Arm(), "c": Arm()}
    assert choose(arms, ()) == "b"
    assert choose(arms, {"b"}) == "c"


def test_what_is_made_of_others_comes_in_turn_with_second_visits() -> None:
    arms = {"kernel": Arm(), "other": Arm(), "function": Arm(), "layer": Arm()}
    visited = []
    for _ in range(6):
        name = choose(arms, (), made_of_others={"function", "layer"})
        assert name is not None
        arms[name].visits += 1
        visited.append(name)
    assert visited[:3] == ["kernel", "other", "function"]
    assert visited[3] != "layer"
    assert visited[4] == "layer"


def test_then_what_pays_for_its_time() -> None:
    arms = {
        "dear": Arm(visits=5, seconds=100.0, paid=20),
        "pays": Arm(visits=5, seconds=5.0, paid=20),
        "shows nothing": Arm(visits=5, seconds=5.0, paid=0),
    }
    assert choose(arms, ()) == "pays"


def test_nothing_is_given_up_for_good() -> None:
    arms = {"pays": Arm(visits=1, seconds=10.0, paid=8), "poor": Arm(visits=1, seconds=10.0)}
    visited = []
    for _ in range(200):
        name = choose(arms, ())
        assert name is not None
        arms[name].visits += 1
        arms[name].seconds += 1.0
        visited.append(name)
    assert visited.count("poor") > 10
    assert choose(arms, {"pays", "poor"}) is None


def test_a_target_without_a_call_that_works_waits() -> None:
    arms = {"barren": Arm(visits=1, barren=True), "works": Arm(visits=1)}
    assert choose(arms, ()) == "works"
