"""What code is called."""
import os

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NOBODYS = ("<frozen importlib", "<frozen zipimport", "<frozen runpy")


def describe(code, names):
    """Package (the module), class, method, signature, file, line of code that runs with `names`, and whether it is to be seen."""
    module = names.get("__name__") if isinstance(names, dict) else None
    module = module if isinstance(module, str) else ""
    whole = getattr(code, "co_qualname", code.co_name)
    before, _, method = whole.rpartition(".") if "<locals>" not in whole else whole.partition(".<locals>")[0].rpartition(".")
    if "<locals>" in whole:
        method += whole[len(before) + 1 + len(method):] if before else whole[len(method):]
    file = code.co_filename
    count = code.co_argcount + code.co_kwonlyargcount
    signature = f"{method}({', '.join(code.co_varnames[:count])})"
    taken = not file.startswith((_OURS, *_NOBODYS)) and not (module == "runpy" and file.endswith("runpy.py"))
    return module, before or os.path.basename(file), method, signature, file, code.co_firstlineno, taken
