from __future__ import annotations

from dataclasses import replace

from tests.report import examples
from tests.report.formats.html.pages import page


def test_a_row_for_each_case_in_the_table_of_its_file() -> None:
    results = [examples.passing(), examples.mismatch(), examples.known_bug()]
    tree = page(results).by_id("cases")
    files = tree.all("details", "file")
    assert [f.all("b")[0].text for f in files] == [examples.MATMUL, examples.EDGES]
    assert files[0].all("summary")[0].text == f"{examples.MATMUL} 1 pass, 1 mismatch"
    rows = [row for row in tree.all("tr") if "id" in row.attributes]
    assert [cell.text for cell in (*rows[1].all("th"), *rows[1].all("td"))] == [
        "transposed[float32,xla]", "float32", "xla", "0.001", "5.0e-04", "4.0e-13", "mismatch",
        "0.31 s",
    ]  # fmt: skip
    assert [row.attributes["class"] for row in rows] == ["pass", "failed", "known"]


def test_links_lead_to_failures_and_unfold_the_others() -> None:
    tree = page([examples.passing(), examples.mismatch()]).by_id("cases")
    unfolding, leading = (row.all("a")[0] for row in tree.all("tr") if "id" in row.attributes)
    assert unfolding.attributes == {"href": "#c0", "aria-expanded": "false"}
    assert leading.attributes == {"href": "#f1"}


def test_a_case_is_found_by_its_tags_and_its_cause() -> None:
    row = page([examples.mismatch()]).by_id("c0")
    assert (row.attributes["data-more"] or "").split() == ["slow", "factor"]


def test_files_are_folded_where_there_are_many_cases() -> None:
    few = [replace(examples.passing(), id=f"a.yaml::{i}") for i in range(50)]
    many = [*few, replace(examples.passing(), id="b.yaml::51")]
    assert ["open" in d.attributes for d in page(few).all("details", "file")] == [True]
    assert ["open" in d.attributes for d in page(many).all("details", "file")] == [False, False]


def test_the_filters_offer_what_there_is() -> None:
    form = page([examples.passing(), examples.mismatch()]).by_id("filters")
    assert "hidden" in form.attributes  # until the script shows them
    assert [option.text for option in form.by_id("dtype").all("option")] == [
        "all", "float32", "float64",
    ]  # fmt: skip
    boxes = [n for n in form.all("input") if n.attributes.get("name") == "status"]
    assert [box.attributes["value"] for box in boxes] == ["failed", "pass"]


def test_the_slowest_are_listed() -> None:
    results = [
        replace(examples.passing(seconds=i), id=f"a.yaml::{i}", case=None) for i in range(12)
    ]
    (slowest,) = page(results).by_id("cases").all("ol")
    assert [item.text for item in slowest.all("li")][:2] == [
        "a.yaml::11 11.0 s",
        "a.yaml::10 10.0 s",
    ]
    assert not page(results[:3]).by_id("cases").all("ol")
