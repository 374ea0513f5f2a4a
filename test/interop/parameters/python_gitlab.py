"""Calls every method of every manager and object of python-gitlab with a client that only records.

Prints the requests as JSON: method, path (with ":" for arguments) and the names of the parameters. Methods that send no
request are listed on standard error.
"""

import inspect
import json
import sys
import warnings

import gitlab
from gitlab import base, cli, types
from gitlab.v4 import objects

ARGUMENT = "zzargument"
# Arguments of methods that stay in the client.
LOCAL = {"lazy", "streamed", "iterator", "action", "chunk_size", "get_all", "skip_login", "filepath", "raw"}
requests = []


class Recorded(BaseException):
    """Ends a method after its first request."""


def name_of(key):
    return key.removesuffix("[]")


def names_of(value, prefix=""):
    """Yields the names of the members of an object, and of objects in it."""
    for key, inner in value.items():
        name = f"{prefix}[{key}]" if prefix else name_of(key)
        if isinstance(inner, dict) and inner:
            yield from names_of(inner, name)
        else:
            yield name


def record(self, verb, path, query_data=None, post_data=None, files=None, **options):
    for local in ("raw", "streamed", "timeout", "obey_rate_limit", "retry_transient_errors", "max_retries", "extra_headers"):
        options.pop(local, None)
    names = set(names_of({**(query_data or {}), **options}))
    if isinstance(post_data, dict):
        names.update(names_of(post_data))
    names.update(files or {})
    template = path.removeprefix("http://localhost/api/v4").replace(ARGUMENT, ":")
    requests.append({"method": verb.upper(), "path": template, "parameters": sorted(names)})
    raise Recorded


gitlab.Gitlab.http_request = record
warnings.simplefilter("ignore")  # deprecated methods send their parameters too
# A page that a script asks for by its documented arguments.
PAGE = {"page": 1, "per_page": 1}

managers = [
    each for _, each in inspect.getmembers(objects, inspect.isclass) if issubclass(each, base.RESTManager) and hasattr(each, "_path")
]
attributes = {name: ARGUMENT for manager in managers for name in manager._from_parent_attrs.values()}
attributes.update({manager._obj_cls._id_attr: ARGUMENT for manager in managers if getattr(manager, "_obj_cls", None) and manager._obj_cls._id_attr})


def value_for(kind):
    if kind is None:
        return ARGUMENT
    if issubclass(kind, types.FileAttribute):
        return ("file", b"")
    if issubclass(kind, types.ArrayAttribute) or issubclass(kind, types.CommaSeparatedListAttribute):
        return [ARGUMENT]
    return ARGUMENT


def values_for(manager, names):
    return {name: value_for(manager._types.get(name)) for name in names}


def all_attributes(required_optional):
    return [*required_optional.required, *required_optional.optional, *required_optional.exclusive[:1]]


def data_of(manager, method):
    """Yields the values for the argument that holds attributes, one for each exclusive one."""
    declared = manager._create_attrs if method == "create" else manager._update_attrs
    names = [*declared.required, *declared.optional]
    for exclusive in declared.exclusive or (None,):
        yield values_for(manager, [*names, *([exclusive] if exclusive else [])])


def argument(parameter):
    annotation = str(parameter.annotation)
    if "bool" in annotation and "str" not in annotation:
        return True
    if "dict" in annotation:
        return {}
    if "list" in annotation.lower() or "iterable" in annotation.lower():
        return [ARGUMENT]
    return ARGUMENT


def call(owner, manager, name, method, data):
    signature = inspect.signature(method)
    keywords = {}
    takes_any = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_any = True
        elif parameter.kind is parameter.VAR_POSITIONAL or parameter.name in LOCAL:
            continue
        elif parameter.name in ("data", "new_data"):
            keywords[parameter.name] = data
        else:
            keywords[parameter.name] = argument(parameter)
    if takes_any:
        if name == "list":
            keywords.update({**values_for(manager, getattr(manager, "_list_filters", ())), **PAGE})
        if name == "get":
            keywords.update(values_for(manager, getattr(manager, "_optional_get_attrs", ())))
        custom = cli.custom_actions.get(type(owner).__name__, {}).get(name.replace("_", "-"))
        for option in (*custom.required, *custom.optional) if custom else ():
            keywords.setdefault(option.replace("-", "_"), ARGUMENT)
    try:
        method(**keywords)
    except Recorded:
        return None
    except Exception as error:  # any failure means that nothing was sent
        return f"{type(error).__name__}: {error}"
    return "returned"


def methods_of(owner, of_base):
    for name, method in inspect.getmembers(owner, inspect.ismethod):
        if not name.startswith("_") and not hasattr(of_base, name):
            yield name, method


def visit(owner, manager, of_base, visited):
    for name, method in methods_of(owner, of_base):
        failures = [call(owner, manager, name, method, data) for data in data_of(manager, name)]
        for failure in filter(None, failures):
            print(f"python-gitlab: {type(owner).__name__}.{name} sent nothing: {failure}", file=sys.stderr)
    for child in list(vars(owner).values()):
        if isinstance(child, base.RESTManager):
            visit_manager(child, visited)


def visit_manager(manager, visited):
    key = (type(manager), manager.path)
    if key in visited:
        return
    visited.add(key)
    visit(manager, manager, base.RESTManager, visited)
    if getattr(manager, "_obj_cls", None):
        thing = manager._obj_cls(manager, dict(attributes))
        if isinstance(thing, gitlab.mixins.SaveMixin):
            for name in all_attributes(manager._update_attrs):
                thing.__dict__["_updated_attrs"].setdefault(name, value_for(manager._types.get(name)))
        visit(thing, manager, base.RESTObject, visited)


client = gitlab.Gitlab("http://localhost")
visited = set()
for part in [*vars(client).values(), objects.CurrentUserManager(client)]:
    if isinstance(part, base.RESTManager):
        visit_manager(part, visited)
for name, method in methods_of(client, object):
    if name.startswith("http_") or name in ("auth", "enable_debug", "graphql"):
        continue
    try:
        method(**{p.name: argument(p) for p in inspect.signature(method).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD})
    except Recorded:
        pass
    except Exception as error:
        print(f"python-gitlab: Gitlab.{name} sent nothing: {error}", file=sys.stderr)
missed = {type_.__name__ for type_ in managers} - {type_.__name__ for type_, _ in visited}
print(f"python-gitlab: managers that nothing leads to: {sorted(missed)}", file=sys.stderr)
json.dump(requests, sys.stdout)
