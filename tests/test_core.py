"""The stub of the compiled core says what the module has."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import coherently
from coherently import _core


def stub_names(body):
    return {
        node.name: stub_names(node.body) if isinstance(node, ast.ClassDef) else None
        for node in body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }


def module_names(owner):
    found = {}
    for name, value in vars(owner).items():
        if inspect.isclass(value):
            found[name] = module_names(value)
        elif (callable(value) or isinstance(value, property)) and (
            not name.startswith("__") or name in ("__init__", "__len__")
        ):
            found[name] = None
    return found


def test_stub_and_module_have_the_same_names():
    stub = Path(coherently.__file__).with_name("_core.pyi")
    assert module_names(_core) == stub_names(ast.parse(stub.read_text()).body)


def test_the_core_refuses_indices_out_of_range():
    table = _core.EventTable()
    table.add(["p"], {}, 100)
    with pytest.raises(IndexError):
        table.evaluate(np.array([99], np.int32), np.zeros((1, 1), np.uint64))
    with pytest.raises(ValueError, match="each variable"):
        table.evaluate(np.array([2], np.int32), np.zeros((3, 1), np.uint64))
    with pytest.raises(IndexError):
        table.supports(np.array([-1], np.int32))
    with pytest.raises(IndexError):
        _core.connected_rows(np.array([0, 1]), np.array([5], np.int32), 2)
    with pytest.raises(ValueError, match="ascend"):
        _core.connected_rows(np.array([0, 9]), np.array([0], np.int32), 2)
