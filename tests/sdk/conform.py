"""Holds what a vendor's client received to the vendor's own types."""

import pydantic


def conform(model, extras=()):
    """Fails if `model` lacks a field that its type demands, or has one that its type does not know.

    The clients themselves are lenient: they build types without looking. `extras` names fields that
    only compatible servers have.
    """
    # References between the SDK's types are resolved on first use.
    type(model).model_rebuild()
    type(model).model_validate(model.to_dict(mode="json", use_api_names=True), strict=False)
    known(model, extras, type(model).__name__)
    return model


def known(value, extras, place):
    if isinstance(value, pydantic.BaseModel):
        stray = set(value.model_extra or {}) - set(extras)
        assert not stray, f"{place}: the vendor's type has no {sorted(stray)}"
        for name in type(value).model_fields:
            known(getattr(value, name, None), extras, f"{place}.{name}")
    elif isinstance(value, list):
        for at, entry in enumerate(value):
            known(entry, extras, f"{place}[{at}]")


def equal(seen, expected):
    assert seen == expected, f"\n  seen     {seen!r}\n  expected {expected!r}"


def fails(kind, act):
    """Returns the error of type `kind` that `act` must raise."""
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def breaks(act):
    """Demands that `act` sees the connection break; clients wrap that in errors of their own."""
    error = fails(Exception, act)
    while "incomplete chunked read" not in str(error):
        assert error.__cause__, repr(error)
        error = error.__cause__


def run(cases):
    """Runs every case and says which passed; the first that fails ends the program."""
    for case in cases:
        case()
        print(f"  ok  {case.__name__}")
