"""Makes most calls refer to existing objects with meaningful values; otherwise only refusals would be tested.

Environment: API_URL with the path of the version; COUNTS, the file for the number of answers by operation and status;
ADMINISTRATOR_TOKEN; CALLER, "administrator" or "anonymous".
"""

import atexit
import collections
import json
import os
import zlib
from urllib.parse import quote

import schemathesis
from world import World, fresh_site, fresh_word, in_days, record_of

token = os.environ["ADMINISTRATOR_TOKEN"]
is_administrator = os.environ["CALLER"] == "administrator"
world = World(os.environ["API_URL"], token)
counts = collections.defaultdict(collections.Counter)
# Values of path parameters that referred to existing objects. Links use such values, which are not replaced.
meaningful = set()

# The object and its usable members by the name of a path parameter. If the name is ambiguous, a part of the path precedes it.
PATH = {
    "groups id": ("group", ["id", "full_path"]),
    "projects id": ("project", ["id", "path_with_namespace"]),
    "users id": ("user", ["id"]),
    "users user_id": ("user", ["id"]),
    "groups user_id": ("group_member", ["id"]),
    "projects user_id": ("project_member", ["id"]),
    "access_requests user_id": ("requester", ["id"]),
    "personal_access_tokens id": ("personal_token", ["id"]),
    "impersonation_token_id": ("impersonation_token", ["id"]),
    "groups token_id": ("group_token", ["id"]),
    "projects token_id": ("project_token", ["id"]),
    "groups label_id": ("group_label", ["id", "name"]),
    "projects label_id": ("project_label", ["id", "name"]),
    "groups milestone_id": ("group_milestone", ["id"]),
    "projects milestone_id": ("project_milestone", ["id"]),
    "groups key": ("group_variable", ["key"]),
    "projects key": ("project_variable", ["key"]),
    "issue_iid": ("issue", ["iid"]),
    "merge_request_iid": ("merge_request", ["iid"]),
    "commits sha": ("commit", ["id", "short_id"]),
    "statuses sha": ("commit", ["id", "short_id"]),
    "blobs sha": ("blob", ["id"]),
    "branch": ("branch", ["name"]),
    "tag_name": ("tag", ["name"]),
    "snippet_id": ("snippet", ["id"]),
    "hook_id": ("hook", ["id"]),
    "url_variables key": ("hook", ["variable"]),
    "custom_headers key": ("hook", ["header"]),
    "releases tag_name": ("release", ["tag_name"]),
    "link_id": ("release", ["link_id"]),
    "issues discussion_id": ("issue_discussion", ["id"]),
    "issues note_id": ("issue_discussion", ["note_id"]),
    "issues {issue_iid} award_id": ("issue_award", ["id"]),
    "issues {note_id} award_id": ("issue_note_award", ["id"]),
    "merge_requests discussion_id": ("merge_request_discussion", ["id"]),
    "merge_requests note_id": ("merge_request_discussion", ["note_id"]),
    "merge_requests {merge_request_iid} award_id": ("merge_request_award", ["id"]),
    "merge_requests {note_id} award_id": ("merge_request_note_award", ["id"]),
    "snippets discussion_id": ("snippet_discussion", ["id"]),
    "snippets note_id": ("snippet_discussion", ["note_id"]),
    "snippets {snippet_id} award_id": ("snippet_award", ["id"]),
    "snippets {note_id} award_id": ("snippet_note_award", ["id"]),
    "repository discussion_id": ("commit_discussion", ["id"]),
    "repository note_id": ("commit_discussion", ["note_id"]),
    "files ref": ("snippet_file", ["ref"]),
    "{ref} file_path": ("snippet_file", ["path"]),
    "file_path": ("file", ["file_path"]),
    "pipeline_id": ("pipeline", ["id"]),
    "job_id": ("job", ["id"]),
    "applications id": ("application", ["id"]),
    "broadcast_messages id": ("broadcast_message", ["id"]),
    "groups slug": ("group_wiki_page", ["slug"]),
    "projects slug": ("project_wiki_page", ["slug"]),
    "groups deploy_tokens token_id": ("group_deploy_token", ["id"]),
    "projects deploy_tokens token_id": ("project_deploy_token", ["id"]),
    "environment_id": ("environment", ["id"]),
    "deployment_id": ("deployment", ["id"]),
    "feature_flag_name": ("feature_flag", ["name"]),
    "feature_flags_user_lists iid": ("user_list", ["iid"]),
    "geo_nodes id": ("primary_geo_node", ["id"]),
    "geo_sites id": ("primary_geo_node", ["id"]),
}

# Values by the name of a parameter in the query or the body. If the name is ambiguous, the first or the third part of the path
# precedes it.
WORDS = {
    "name": fresh_word,
    "path": fresh_word,
    "username": fresh_word,
    "title": fresh_word,
    "key": fresh_word,
    "new_name": fresh_word,
    "tag_name": fresh_word,
    "email": lambda: f"{fresh_word()}@example.test",
    "author_email": lambda: "mira@example.test",
    "public_email": lambda: None,
    "password": lambda: "correct-horse-9",
    "scopes": lambda: ["read_api"],
    "access_level": lambda: 20,
    "expires_at": lambda: in_days(60),
    "start_date": lambda: "2026-01-01",
    "due_date": lambda: "2026-12-31",
    "color": lambda: "#00aa00",
    "content": lambda: "AAH/",
    "value": lambda: "a-longer-value",
    "environment_scope": lambda: "*",
    "filter": lambda: {"environment_scope": "*"},
    "labels": lambda: "bug",
    "user_id": lambda: world["stranger"]["id"],
    "assignee_id": lambda: world["user"]["id"],
    "assignee_ids": lambda: [world["user"]["id"]],
    "reviewer_ids": lambda: [world["user"]["id"]],
    "namespace_id": lambda: world["group"]["id"],
    "parent_id": lambda: world["group"]["id"],
    "namespace": lambda: "root",
    "source_branch": lambda: world["branch"]["name"],
    "target_branch": lambda: "main",
    "ref": lambda: "main",
    "commit_message": lambda: "Change",
    "commits": lambda: [world["commit"]["id"]],
    "before": lambda: in_days(-30),
    "external_url": lambda: "https://board.example.test",
    "environment": fresh_word,
    "user_xids": lambda: "7,12",
    "feature_flags strategies": lambda: [{"name": "default", "parameters": {}, "scopes": [{"environment_scope": "*"}]}],
    "applications redirect_uri": lambda: "https://board.example.test/cb",
    "applications scopes": lambda: "read_api",
    "deploy_tokens scopes": lambda: ["read_registry"],
    "projects files": lambda: [{"action": "create", "file_path": f"src/{fresh_word()}", "content": "Hello\n"}],
    "broadcast_messages message": lambda: "Maintenance",
    "starts_at": lambda: "2026-02-03T04:00:00Z",
    "ends_at": lambda: "2099-02-03T04:00:00Z",
    "font": lambda: "#ffffff",
    "geo_nodes url": fresh_site,
    "geo_sites url": fresh_site,
    "internal_url": fresh_site,
    "selective_sync_namespace_ids": lambda: [world["group"]["id"]],
    "target_url": lambda: "https://lint.example.test/7",
    "actions": lambda: [{"action": "create", "file_path": f"src/{fresh_word()}", "content": "Hello\n"}],
}
# The merge request that a call needs, by the last part of the path.
PREPARED = {"unapprove": "approved_merge_request", "cancel_merge_when_pipeline_succeeds": "waiting_merge_request"}
# Parameters that make most calls fail, and parameters that exclude each other.
HINDRANCES = ["file_name", "start_branch", "start_sha", "last_commit_id", "target_project_id"]
EXCLUDED = {"files": "content", "user_id": "username", "label_id": "name", "assignee_ids": "assignee_id"}


@schemathesis.hook
def before_call(context, case, kwargs):
    # The same case is always changed in the same way, so that schemathesis can search for a smaller failing case.
    said = json.dumps([case.path_parameters, case.query, case.body], default=repr, sort_keys=True)
    choice = zlib.crc32(f"{case.operation.label} {said}".encode("utf-8", "surrogatepass"))
    if choice % 5 > 0:
        use_existing_objects(case, choice // 5)
    if choice % 3 > 0:
        use_meaningful_values(case)
        use_commit_to_pick(case)
        use_prepared_merge_request(case)
    if is_administrator:
        spare_the_administrator(case)
        case.headers["PRIVATE-TOKEN"] = token_for(case)
        if case.path.endswith("/unstar"):
            world.star()
        if case.method == "POST" and case.path.endswith("/access_requests"):
            # Administrators cannot request access.
            case.headers["Sudo"] = str(world["stranger"]["id"])
            world.forget("stranger")


@schemathesis.hook
def after_call(context, case, response):
    counts[case.operation.label][str(response.status_code)] += 1
    made = response.json() if response.status_code == 201 else None
    if isinstance(made, dict):
        meaningful.update(quote(str(made[name]), safe="") for name in ("id", "iid", "name", "key") if name in made)
    existing = [thing for name, thing, members in path_of(case) if case.path_parameters[name] in texts(thing, members)]
    is_end = case.method == "DELETE" or case.path.endswith(("/approve", "/promote"))
    if is_end and response.status_code < 300:
        existing = existing[-1:]
    elif not is_administrator or response.status_code not in (403, 404):
        return
    for thing in existing:
        world.forget(thing)


@atexit.register
def write_counts():
    with open(os.environ["COUNTS"], "w", encoding="utf-8") as file:
        json.dump(counts, file, indent=1, sort_keys=True)


def path_of(case):
    """Returns name, object and members of each path parameter with a known object."""
    segments = case.path.removeprefix("/api/v4/").split("/")
    for index, segment in enumerate(segments):
        if segment.startswith("{"):
            name = segment[1:-1]
            area = segments[2] if len(segments) > 2 else segments[0]
            nearest = segments[index - 1]
            places = [f"{segments[0]} {nearest}", nearest, f"{area} {segments[index - 2]}", area, segments[0]]
            named = [f"{place} {name}" for place in places]
            known = next((PATH[key] for key in (*named, name) if key in PATH), None)
            if known is not None and name in (case.path_parameters or {}):
                yield name, *known


def texts(thing, members):
    """Returns the values as they are written in a path."""
    return [quote(str(world[thing][member]), safe="") for member in members]


def use_existing_objects(case, choice):
    is_by_link = case.meta.phase.name == "stateful" and meaningful.issuperset(map(str, case.path_parameters.values()))
    for name, thing, members in [] if is_by_link else path_of(case):
        ways = texts(thing, members)
        case.path_parameters[name] = ways[choice % len(ways)]
        meaningful.add(case.path_parameters[name])
    if case.method == "POST" and "file_path" in (case.path_parameters or {}):
        case.path_parameters["file_path"] = fresh_word()


def use_meaningful_values(case):
    place, _, area = (*case.path.removeprefix("/api/v4/").split("/"), "", "")[:3]
    for parameters in (case.query, case.body):
        if not isinstance(parameters, dict):
            continue
        for name in HINDRANCES + [excluded for name, excluded in EXCLUDED.items() if name in parameters]:
            parameters.pop(name, None)
        for name in parameters:
            thing, members = PATH.get(f"{place} {name}", (None, []))
            word = WORDS.get(f"{area} {name}") or WORDS.get(f"{place} {name}") or WORDS.get(name)
            if word is not None:
                parameters[name] = word()
            elif thing is not None:
                parameters[name] = world[thing][members[0]]
        pipeline_id = str((case.path_parameters or {}).get("pipeline_id", ""))
        if place == "projects" and "object_attributes" in parameters and pipeline_id.isdecimal():
            parameters.clear()
            parameters.update(record_of(int(pipeline_id)))
        if "branch" in parameters:
            parameters["branch"] = fresh_word() if "ref" in parameters else "main"


def use_commit_to_pick(case):
    """Cherry-picks and reverts a new commit each time, because a second time nothing would be left to do."""
    verb = case.path.split("/")[-1]
    if verb in ("cherry_pick", "revert") and isinstance(case.body, dict):
        picked = world["unpicked"]
        case.path_parameters["sha"] = picked["id"]
        case.body["branch"] = "main" if verb == "cherry_pick" else picked["branch"]
        world.forget("unpicked")


def use_prepared_merge_request(case):
    """Removes an approval or an automatic merge that the caller has just added, because there is none a second time."""
    thing = PREPARED.get(case.path.split("/")[-1])
    if thing is not None:
        prepared = world[thing]
        case.path_parameters.update(id=prepared["project_id"], merge_request_iid=prepared["iid"])
        world.forget(thing)


def spare_the_administrator(case):
    """Redirects calls that would delete or block the administrator's own account or token to another object."""
    own = {"user": world.administrator_id, "personal_token": world.administrator_token_id}
    for name, thing, _ in path_of(case):
        if case.method != "GET" and str(case.path_parameters[name]) in (str(own.get(thing)), "root"):
            case.path_parameters[name] = world[thing]["id"]


def token_for(case):
    if case.path.endswith("/reset_approvals"):
        return world.bot_token("project")
    if "/self" not in case.path:
        return token
    kind = case.path.split("/")[3].rstrip("s")
    return world.own_token() if kind == "personal_access_token" else world.bot_token(kind)
