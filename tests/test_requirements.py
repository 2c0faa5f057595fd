"""What the project needs is read as it is written."""

from pathlib import Path

from agentlib.requirements import direct_requirements, misfits

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def test_every_requirement_of_the_project_is_met_where_its_tests_run():
    assert misfits(direct_requirements(PYPROJECT, ["dev"])) == []


def test_a_requirement_may_name_extras_of_its_own():
    assert misfits(["pytest[dev]>=1,<1000", "absent-package[a,b]>=1"]) == ["absent-package is missing"]
    assert misfits(["pytest[dev]<1"])[0].endswith("is not <1")
