"""Calls the API with python-gitlab, and prints the result of each step as JSON.

Standard input is JSON: url, rootToken, the oauthToken and jobToken of the user "joan", and jobProject, the id of the
project of that job. The result of a step that raises is {"raised": ...}.
"""

import json
import sys
import traceback

import gitlab

settings = json.load(sys.stdin)
url = settings["url"]
root = gitlab.Gitlab(url, private_token=settings["rootToken"])
root.auth()
steps = []


def step(work):
    steps.append(work)
    return work


def as_holder(token):
    return gitlab.Gitlab(url, private_token=token)


def refusal(work, *arguments, **options):
    """Returns the class, status and text of the error that the client raises."""
    try:
        work(*arguments, **options)
    except gitlab.GitlabError as error:
        return [type(error).__name__, error.response_code, error.error_message]
    return "no error"


def new_user(username):
    return root.users.create(
        {
            "username": username,
            "name": f"{username} Holt",
            "email": f"{username}@example.test",
            "password": "correct-horse-9",
            "skip_confirmation": True,
        }
    )


def new_group(path, **fields):
    return root.groups.create({"name": path, "path": path, **fields})


def new_project(path, group):
    project = root.projects.create({"name": path, "namespace_id": group.id})
    project.files.create(
        {"file_path": "README.md", "branch": "main", "content": "# Hello\n", "commit_message": "Initial commit"}
    )
    return project


def pick(thing, *names):
    attributes = thing if isinstance(thing, dict) else thing.attributes
    return [attributes[name] for name in names]


@step
def personal_token():
    user = new_user("pat")
    made = user.personal_access_tokens.create({"name": "laptop", "scopes": ["api"], "expires_at": "2026-06-01"})
    own = as_holder(made.token)
    own.auth()
    shown = own.personal_access_tokens.get("self")
    own_tokens = [token.name for token in own.personal_access_tokens.list(get_all=True)]
    rotated = own.personal_access_tokens.get("self").rotate(self_rotate=True, expires_at="2026-07-01")
    renewed = as_holder(rotated["token"])
    renewed.auth()
    renewed.personal_access_tokens.delete("self")
    after = root.personal_access_tokens.get(rotated["id"])
    return {
        "made": pick(made, "name", "scopes", "expires_at", "active", "revoked"),
        "user": own.user.username,
        "shown": shown.id == made.id,
        "list": own_tokens,
        "rotated": pick(rotated, "name", "expires_at"),
        "renewed user": renewed.user.username,
        "after": pick(after, "active", "revoked"),
        "old": refusal(own.auth),
    }


@step
def project_token():
    project = new_project("tools", new_group("project-token"))
    made = project.access_tokens.create(
        {"name": "deploys", "scopes": ["api"], "access_level": 30, "expires_at": "2026-06-01"}
    )
    bot = as_holder(made.token)
    bot.auth()
    issue = bot.projects.get(project.id).issues.create({"title": "By a bot"})
    names = [token.name for token in project.access_tokens.list(get_all=True)]
    edit = refusal(bot.projects.update, project.id, {"name": "mine"})
    rotated = project.access_tokens.get(made.id).rotate()
    project.access_tokens.delete(rotated["id"])
    return {
        "made": pick(made, "name", "access_level", "active"),
        "bot": [bot.user.username.startswith(f"project_{project.id}_bot_"), bot.user.bot],
        "issue": issue.title,
        "list": names,
        "edit": edit,
        "rotated until": rotated["expires_at"],
        "revoked": refusal(as_holder(rotated["token"]).auth),
    }


@step
def group_token():
    group = new_group("group-token")
    project = new_project("tools", group)
    made = group.access_tokens.create(
        {"name": "reader", "scopes": ["read_api"], "access_level": 20, "expires_at": "2026-06-01"}
    )
    bot = as_holder(made.token)
    reached = bot.projects.get("group-token/tools")
    write = refusal(reached.issues.create, {"title": "No"})
    group.access_tokens.delete(made.id)
    return {
        "reached": reached.id == project.id,
        "write": write,
        "revoked": refusal(bot.projects.get, project.id),
    }


@step
def impersonation_token():
    user = new_user("imp")
    made = user.impersonationtokens.create({"name": "support", "scopes": ["api"], "expires_at": "2026-06-01"})
    other = as_holder(made.token)
    other.auth()
    listed = [token.id == made.id for token in user.impersonationtokens.list(state="active", get_all=True)]
    user.impersonationtokens.delete(made.id)
    return {
        "made": pick(made, "impersonation", "active"),
        "user": other.user.username,
        "list": listed,
        "shown": pick(user.impersonationtokens.get(made.id), "revoked"),
        "revoked": refusal(other.auth),
    }


@step
def oauth_token():
    client = gitlab.Gitlab(url, oauth_token=settings["oauthToken"])
    client.auth()
    return {"user": client.user.username, "beyond its scopes": refusal(client.groups.list, get_all=True)}


@step
def job_token():
    client = gitlab.Gitlab(url, job_token=settings["jobToken"])
    project = client.projects.get(settings["jobProject"], lazy=True)
    return {
        "branches": [branch.name for branch in project.branches.list(get_all=True)],
        "tags": project.tags.list(get_all=True),
        "elsewhere": refusal(project.issues.list, get_all=True),
    }


@step
def no_token():
    new_group("open", visibility="public")
    new_group("closed", visibility="private")
    anonymous = gitlab.Gitlab(url)
    return {
        "groups": [group.path for group in anonymous.groups.list(get_all=True)],
        "closed": refusal(anonymous.groups.get, "closed"),
        "unknown token": refusal(as_holder("unknown-token").auth),
    }


@step
def sudo():
    user = new_user("sue")
    group = root.groups.create({"name": "hers", "path": "hers"}, sudo="sue")
    token = user.personal_access_tokens.create({"name": "laptop", "scopes": ["api"]}).token
    return {
        "by name": root.http_get("/user", sudo="sue")["username"],
        "by id": root.http_get("/user", sudo=user.id)["username"],
        "owner": [member.username for member in group.members.list(get_all=True)],
        "of an unknown user": refusal(root.http_get, "/user", sudo="nora"),
        "of a user": refusal(as_holder(token).http_get, "/user", sudo="root"),
    }


@step
def pages():
    group = new_group("pages")
    for number in range(1, 8):
        group.milestones.create({"title": f"m{number}", "due_date": f"2026-05-0{number}"})
        root.projects.create({"name": f"p{number}", "namespace_id": group.id})
        root.groups.create({"name": f"g{number}", "path": f"g{number}", "visibility": "public"})
        new_user(f"u{number}")
    first = group.milestones.list(per_page=3, iterator=True)
    facts = [first.current_page, first.prev_page, first.next_page, first.per_page, first.total, first.total_pages]
    keyset = {"pagination": "keyset", "per_page": 2, "get_all": True}
    projects = root.projects.list(order_by="id", sort="asc", search="p", **keyset)
    groups = gitlab.Gitlab(url).groups.list(order_by="name", sort="asc", **keyset)
    users = root.users.list(order_by="id", sort="desc", **keyset)
    return {
        "facts": facts,
        "iterated": [milestone.title for milestone in first],
        "all": [milestone.title for milestone in group.milestones.list(per_page=2, get_all=True)],
        "third": [milestone.title for milestone in group.milestones.list(per_page=3, page=3)],
        "projects": [one.name for one in projects if one.namespace["path"] == "pages"],
        "groups": [one.path for one in groups if one.path.startswith("g")],
        "users": [one.username for one in users][:7],
    }


@step
def errors():
    group = new_group("errors")
    new_user("twice")
    return {
        "path taken": refusal(new_group, "errors"),
        "no project": refusal(root.projects.get, 9999),
        "no user": refusal(root.users.get, 9999),
        "wrong value": refusal(group.milestones.list, state="asleep", get_all=True),
        "taken": refusal(new_user, "twice"),
        "member": refusal(group.members.create, {"user_id": 9999, "access_level": 30}),
    }


@step
def users():
    user = new_user("una")
    seen = {
        "made": pick(user, "username", "name", "email", "state", "is_admin", "created_at"),
        "found": [one.id == user.id for one in root.users.list(username="UNA", get_all=True)],
    }
    user.name = "Una Vale"
    user.save()
    seen["name"] = root.users.get(user.id).name
    seen["block"] = [user.block(), root.users.get(user.id).state]
    seen["unblock"] = [user.unblock(), root.users.get(user.id).state]
    seen["deactivate"] = [user.deactivate(), root.users.get(user.id).state]
    seen["activate"] = [user.activate(), root.users.get(user.id).state]
    user.delete()
    seen["removed"] = refusal(root.users.get, user.id)
    return seen


@step
def groups():
    ops = new_group("ops", description="Runs it", visibility="internal")
    lab = new_group("lab", parent_id=ops.id)
    deep = new_group("deep", parent_id=lab.id)
    new_project("tools", deep)
    seen = {
        "made": pick(ops, "path", "description", "visibility", "parent_id", "full_path"),
        "deep": root.groups.get("ops/lab/deep").full_name,
        "subgroups": [one.path for one in ops.subgroups.list(get_all=True)],
        "descendants": sorted(one.path for one in ops.descendant_groups.list(get_all=True)),
    }
    lab.name, lab.path = "Laboratory", "laboratory"
    lab.save()
    seen["moved"] = root.groups.get(deep.id).full_path
    below = ops.projects.list(include_subgroups=True, get_all=True)
    seen["projects"] = [one.path_with_namespace for one in below]
    lab.delete()
    seen["removed"] = refusal(root.groups.get, deep.id)
    return seen


@step
def projects():
    old, new = new_group("old-home"), new_group("new-home")
    project = root.projects.create({"name": "Tool Box", "path": "tools", "namespace_id": old.id})
    seen = {"made": pick(project, "name", "path_with_namespace", "name_with_namespace", "visibility", "empty_repo")}
    project.description = "Of use"
    project.save()
    shown = root.projects.get("old-home/tools")
    seen["shown"] = [shown.id == project.id, shown.description, shown.namespace["full_path"]]
    project.archive()
    seen["archived"] = root.projects.get(project.id).archived
    project.unarchive()
    seen["unarchived"] = root.projects.get(project.id).archived
    project.transfer(new.id)
    seen["moved"] = root.projects.get(project.id).path_with_namespace
    project.delete()
    seen["removed"] = refusal(root.projects.get, project.id)
    return seen


@step
def stars():
    project = new_project("tools", new_group("stars"))
    project.star()
    user = root.users.list(username="root", get_all=True)[0]
    seen = {
        "starred": [one.path_with_namespace for one in root.projects.list(starred=True, get_all=True)],
        "by the user": [one.path_with_namespace for one in user.starred_projects.list(get_all=True)],
        "count": root.projects.get(project.id).star_count,
    }
    project.unstar()
    seen["afterwards"] = root.projects.get(project.id).star_count
    return seen


@step
def members():
    user = new_user("mem")
    group = new_group("members")
    project = new_project("tools", group)
    made = group.members.create({"user_id": user.id, "access_level": 20, "expires_at": "2026-12-31"})
    seen = {
        "made": pick(made, "username", "access_level", "expires_at"),
        "again": refusal(group.members.create, {"user_id": user.id, "access_level": 20}),
    }
    made.access_level = gitlab.const.AccessLevel.DEVELOPER
    made.save()
    seen["changed"] = group.members.get(user.id).access_level
    seen["direct"] = project.members.list(get_all=True)
    everyone = project.members_all.list(get_all=True)
    seen["inherited"] = sorted([one.username, one.access_level] for one in everyone)
    seen["one inherited"] = project.members_all.get(user.id).access_level
    made.delete()
    seen["removed"] = refusal(group.members.get, user.id)
    return seen


@step
def access_requests():
    group = new_group("requests", visibility="public")
    project = root.projects.create({"name": "tools", "namespace_id": group.id, "visibility": "public"})
    user = new_user("req")
    token = user.personal_access_tokens.create({"name": "laptop", "scopes": ["api"], "expires_at": "2026-06-01"}).token
    own = as_holder(token)
    seen = {}
    for name, source, mine in [
        ("group", group, own.groups.get(group.id)),
        ("project", project, own.projects.get(project.id)),
    ]:
        made = mine.accessrequests.create()
        steps = {
            "made": pick(made, "username", "state", "requested_at", "created_at"),
            "again": refusal(mine.accessrequests.create),
            "own": [one.username for one in mine.accessrequests.list(get_all=True)],
        }
        source.accessrequests.delete(user.id)
        steps["denied"] = source.accessrequests.list(get_all=True)
        mine.accessrequests.create()
        mine.accessrequests.delete(user.id)
        mine.accessrequests.create()
        pending = source.accessrequests.list(get_all=True)[0]
        pending.approve(access_level=gitlab.const.AccessLevel.REPORTER)
        steps["approved"] = [pending.access_level, source.members.get(user.id).access_level]
        steps["gone"] = refusal(source.accessrequests.delete, user.id)
        source.members.delete(user.id)
        seen[name] = steps
    return seen


@step
def variables():
    group = new_group("variables")
    project = new_project("tools", group)
    made = project.variables.create(
        {"key": "KEY", "value": "a-secret-value", "masked": True, "environment_scope": "production"}
    )
    project.variables.create({"key": "KEY", "value": "another-value", "environment_scope": "staging"})
    staging = {"filter": {"environment_scope": "staging"}}
    seen = {
        "made": {name: value for name, value in made.attributes.items() if name != "project_id"},
        "ambiguous": refusal(project.variables.get, "KEY")[:2],
        "staging": project.variables.get("KEY", **staging).value,
    }
    seen["changed"] = project.variables.update("KEY", {"value": "changed-value"}, **staging)["value"]
    project.variables.delete("KEY", **staging)
    seen["left"] = [one.value for one in project.variables.list(get_all=True)]
    of_group = group.variables.create({"key": "REGION", "value": "north", "variable_type": "file"})
    of_group.value = "south"
    of_group.save()
    seen["of the group"] = pick(group.variables.get("REGION"), "value", "variable_type")
    of_group.delete()
    seen["none"] = group.variables.list(get_all=True)
    return seen


@step
def issues():
    group = new_group("issues")
    project = new_project("tools", group)
    made = project.issues.create(
        {
            "title": "Leak",
            "description": "It drips",
            "labels": ["bug", "urgent"],
            "assignee_ids": [root.user.id],
            "due_date": "2026-03-01",
            "confidential": True,
            "weight": 2,
        }
    )
    project.issues.create({"title": "Rust"})
    names = ("iid", "title", "description", "state", "labels", "due_date", "confidential", "weight")
    seen = {
        "made": pick(made, *names),
        "people": [made.author["username"], [one["username"] for one in made.assignees]],
        "by label": [one.iid for one in project.issues.list(labels=["bug"], get_all=True)],
        "of the group": [one.iid for one in group.issues.list(search="rust", get_all=True)],
    }
    made.state_event = "close"
    made.labels = ["bug", "done"]
    made.save()
    shown = project.issues.get(made.iid)
    seen["closed"] = [shown.state, shown.labels, shown.attributes["closed_by"]["username"]]
    seen["open"] = [one.iid for one in project.issues.list(state="opened", get_all=True)]
    ordered = project.issues.list(order_by="created_at", sort="asc", pagination="keyset", per_page=1, get_all=True)
    seen["keyset"] = [one.iid for one in ordered]
    project.issues.delete(2)
    seen["removed"] = refusal(project.issues.get, 2)[:2]
    return seen


@step
def merge_requests():
    group = new_group("merge-requests")
    project = new_project("tools", group)
    project.branches.create({"branch": "fix", "ref": "main"})
    draft = {"source_branch": "fix", "target_branch": "main", "title": "Draft: Tighten", "labels": ["bug"]}
    made = project.mergerequests.create(draft)
    names = ("iid", "title", "state", "draft", "source_branch", "target_branch", "labels")
    seen = {
        "made": pick(made, *names),
        "again": refusal(project.mergerequests.create, draft)[:2],
    }
    made.title = "Tighten"
    made.state_event = "close"
    made.save()
    seen["closed"] = pick(project.mergerequests.get(1), "title", "state", "draft")
    seen["of the group"] = [one.title for one in group.mergerequests.list(state="closed", get_all=True)]
    made.delete()
    seen["removed"] = refusal(project.mergerequests.get, 1)[:2]
    return seen


@step
def repository():
    project = new_project("tools", new_group("repository"))
    actions = [
        {"action": "create", "file_path": "src/a.txt", "content": "a\n"},
        {"action": "create", "file_path": "src/b.bin", "content": "AAEC", "encoding": "base64"},
    ]
    made = project.commits.create({"branch": "main", "commit_message": "Two files", "actions": actions})
    seen = {
        "made": pick(made, "title", "author_name", "stats"),
        "log": [one.title for one in project.commits.list(ref_name="main", per_page=1, get_all=True)],
        "by its short id": project.commits.get(made.short_id).id == made.id,
        "diff": [[one["new_path"], one["new_file"]] for one in made.diff(get_all=True)],
    }
    branch = project.branches.create({"branch": "feature/one", "ref": "main"})
    seen["branch"] = pick(branch, "name", "default", "protected", "can_push")
    seen["branches"] = [one.name for one in project.branches.list(search="feat", get_all=True)]
    seen["shown branch"] = project.branches.get("feature/one").commit["title"]
    branch.delete()
    seen["no branch"] = refusal(project.branches.get, "feature/one")[:2]
    tag = project.tags.create({"tag_name": "release/1.0", "ref": "main", "message": "The first"})
    seen["tag"] = pick(project.tags.get("release/1.0"), "name", "message", "protected")
    seen["tags"] = [one.name for one in project.tags.list(get_all=True)]
    tag.delete()
    seen["no tag"] = refusal(project.tags.get, "release/1.0")[:2]
    return seen


@step
def picked_commits():
    project = new_project("tools", new_group("picks"))
    project.branches.create({"branch": "side", "ref": "main"})
    actions = [{"action": "create", "file_path": "a.txt", "content": "a\n"}]
    made = project.commits.create({"branch": "side", "commit_message": "Add a", "actions": actions})
    made.cherry_pick("main")
    picked = project.commits.get("main")
    seen = {
        "picked": [picked.message == f"Add a\n\n(cherry picked from commit {made.id})", picked.parent_ids != []],
        "again": refusal(made.cherry_pick, "main")[:2],
    }
    seen["history"] = [picked.sequence()["count"], refusal(picked.signature)]
    project.mergerequests.create({"source_branch": "side", "target_branch": "main", "title": "Fix"})
    seen["merge requests"] = [one["title"] for one in made.merge_requests(get_all=True)]
    picked.revert("main")
    reverted = project.commits.get("main")
    seen["reverted"] = [reverted.title, [one["deleted_file"] for one in reverted.diff(get_all=True)]]
    return seen


@step
def commit_statuses():
    project = new_project("tools", new_group("statuses"))
    commit = project.commits.get("main")
    made = commit.statuses.create({"state": "pending", "name": "lint", "target_url": "https://ci.example.test/1"})
    seen = {
        "made": pick(made, "name", "status", "ref", "target_url", "description"),
        "again": refusal(commit.statuses.create, {"state": "pending", "name": "lint"}),
    }
    commit.statuses.create({"state": "success", "name": "lint", "coverage": 81.5})
    seen["list"] = [pick(one, "name", "status", "coverage") for one in commit.statuses.list(get_all=True)]
    pipeline = project.pipelines.get(made.pipeline_id)
    seen["pipeline"] = pick(pipeline, "status", "source", "ref", "sha")[:3] + [pipeline.sha == commit.id]
    seen["last"] = project.commits.get("main").last_pipeline["id"] == pipeline.id
    return seen


@step
def closing_merge_requests():
    project = new_project("tools", new_group("closing"))
    issue = project.issues.create({"title": "Leak"})
    project.branches.create({"branch": "fix", "ref": "main"})
    draft = {"source_branch": "fix", "target_branch": "main", "title": "Fix", "description": "Closes #1"}
    made = project.mergerequests.create(draft)
    return {
        "closed by": [one["title"] for one in issue.closed_by()],
        "related": [one["iid"] for one in issue.related_merge_requests()],
        "closes": [one.title for one in made.closes_issues()],
        "related issues": [one.title for one in made.related_issues()],
    }


@step
def namespaces():
    group = new_group("counted")
    new_project("tools", group)
    shown = root.namespaces.get("counted")
    return {
        "shown": pick(shown, "kind", "members_count_with_descendants", "projects_count"),
        "size": shown.root_repository_size > 0,
        "listed": [one.projects_count for one in root.namespaces.list(search="counted", get_all=True)],
        "exists": root.namespaces.exists("counted").exists,
        "activities": "root" in [one.username for one in root.user_activities.list(get_all=True)],
    }


@step
def files():
    project = new_project("tools", new_group("of-files"))
    path = "docs/näh.md"
    project.files.create({"file_path": path, "branch": "main", "content": "Grüße\n", "commit_message": "Add it"})
    file = project.files.get(path, ref="main")
    seen = {
        "file": pick(file, "file_name", "file_path", "size", "encoding", "ref"),
        "content": file.decode().decode(),
        "raw": project.files.raw(path, ref="main").decode(),
        "head": project.files.head(path, ref="main")["X-Gitlab-Size"],
        "blob": project.repository_blob(file.blob_id)["size"],
    }
    file.content = "Gruß\n"
    file.save(branch="main", commit_message="Change it")
    seen["changed"] = project.files.get(path, ref="main").decode().decode()
    entries = project.repository_tree(recursive=True, get_all=True)
    seen["tree"] = sorted(entry["path"] for entry in entries)
    file.delete(branch="main", commit_message="Remove it")
    seen["removed"] = refusal(project.files.get, path, ref="main")[:2]
    return seen


@step
def group_milestones():
    group = new_group("milestones")
    made = group.milestones.create(
        {"title": "Spring", "description": "It blooms", "start_date": "2026-01-01", "due_date": "2026-05-31"}
    )
    past = group.milestones.create({"title": "Winter", "due_date": "2026-02-01"})
    names = ("iid", "title", "description", "state", "start_date", "due_date", "expired")

    def titles(**filters):
        return [one.title for one in group.milestones.list(get_all=True, **filters)]

    seen = {
        "made": pick(made, *names),
        "place": [made.group_id == group.id, made.web_url == f"{url}/groups/milestones/-/milestones/1"],
        "shown": group.milestones.get(made.id).attributes == made.attributes,
        "all": titles(),
        "search": titles(search="pri"),
        "iids": titles(iids=[2]),
    }
    past.title = "Past winter"
    past.state_event = "close"
    past.save()
    seen["closed"] = [past.state, titles(state="closed"), titles(state="active")]
    group.milestones.update(past.id, {"state_event": "activate"})
    seen["active"] = group.milestones.get(past.id).state
    past.delete()
    seen["removed"] = [refusal(group.milestones.get, past.id)[:2], titles()]

    project = new_project("tools", group)
    issue = project.issues.create({"title": "Sow", "milestone_id": made.id, "weight": 3})
    project.issues.create({"title": "Reap"})
    project.branches.create({"branch": "seeds", "ref": "main"})
    project.mergerequests.create(
        {"source_branch": "seeds", "target_branch": "main", "title": "Seeds", "milestone_id": made.id}
    )
    issue.state_event = "close"
    issue.save()
    seen["issues"] = [[one.title, one.milestone["title"]] for one in made.issues()]
    seen["merge requests"] = [one.title for one in made.merge_requests()]
    # The client has no method for these.
    events = root.http_list(f"/groups/{group.id}/milestones/{made.id}/burndown_events", get_all=True)
    seen["burndown"] = [[one["action"], one["weight"], one["created_at"]] for one in events]
    return seen


@step
def pipelines():
    project = new_project("tools", new_group("pipelines"))

    def put(pipeline, **body):
        # The client has no method for this extension of GitLab's API.
        return root.http_put(f"/projects/{project.id}/pipeline_records/{pipeline}", post_data=body)

    home = {"id": 9, "path_with_namespace": "g/p"}
    put(
        31,
        object_attributes={
            "id": 31,
            "status": "failed",
            "ref": "main",
            "source": "push",
            "duration": 63,
            "finished_at": "2026-02-03 04:02:00 UTC",
        },
        project=home,
        builds=[
            {"id": 380, "name": "compile", "stage": "build", "status": "success"},
            {"id": 382, "name": "unit", "stage": "test", "status": "failed", "failure_reason": "script_failure"},
        ],
        bridges=[{"id": 381, "name": "deploy", "stage": "deploy", "status": "success"}],
    )
    child = put(
        32,
        object_attributes={"id": 32, "status": "running", "ref": "main"},
        project=home,
        source_pipeline={"pipeline_id": 31, "job_id": 381, "project": home},
    )
    shown = project.pipelines.get(31)
    job = project.jobs.get(382)
    seen = {
        "put": child["status"],
        "list": [one.id for one in project.pipelines.list(get_all=True)],
        "scoped": [one.id for one in project.pipelines.list(scope="finished", get_all=True)],
        "shown": pick(shown, "status", "ref", "source", "duration")
        + [shown.detailed_status["label"], shown.finished_at],
        "latest": project.pipelines.latest(ref="main").id,
        "jobs": [[one.id, one.name, one.status] for one in shown.jobs.list(get_all=True)],
        "bridges": [[one.name, one.downstream_pipeline["id"]] for one in shown.bridges.list(get_all=True)],
        "job": [job.failure_reason, job.pipeline["id"]],
        "all jobs": [one.id for one in project.jobs.list(get_all=True)],
        "keyset": [one.id for one in project.jobs.list(pagination="keyset", per_page=1, get_all=True)],
    }
    shown.delete()
    seen["removed"] = refusal(project.pipelines.get, 31)
    return seen


@step
def project_milestones():
    project = new_project("tools", new_group("project-milestones"))
    made = project.milestones.create({"title": "v1", "due_date": "2026-04-01"})
    project.issues.create({"title": "Sow", "milestone_id": made.id})
    made.title = "v2"
    made.save()
    seen = {
        "changed": pick(project.milestones.get(made.id), "title", "due_date", "state"),
        "issues": [one.title for one in made.issues()],
    }
    made.delete()
    seen["none"] = project.milestones.list(get_all=True)
    return seen


@step
def application_settings():
    settings = root.settings.get()
    before = pick(settings, "id", "default_projects_limit", "default_project_visibility", "restricted_visibility_levels")
    settings.default_projects_limit = 5
    settings.domain_allowlist = ["*.example.test"]
    # The client also sends each list that its user has read.
    settings.asset_proxy_allowlist
    settings.save()
    seen = {"before": before, "after": pick(settings, "default_projects_limit", "domain_allowlist")}
    settings.max_attachment_size = 0
    seen["refused"] = refusal(settings.save)
    other = root.settings.get()
    other.default_projects_limit = 100000
    other.domain_allowlist = []
    other.save()
    return seen


@step
def applications():
    made = root.applications.create(
        {"name": "Deploy board", "redirect_uri": "https://board.example.test/cb", "scopes": "api read_user"}
    )
    listed = [one for one in root.applications.list(get_all=True) if one.id == made.id][0]
    seen = {
        "made": pick(made, "application_name", "callback_url", "confidential", "scopes"),
        "secret": [made.secret.startswith("gitlaboas-"), hasattr(listed, "secret")],
        "listed": listed.application_id == made.application_id,
        "refused": refusal(root.applications.create, {"name": "", "redirect_uri": "/cb", "scopes": "api"}),
    }
    made.delete()
    seen["removed"] = refusal(root.applications.delete, made.id)
    return seen


@step
def geo_nodes():
    # The client cannot create nodes.
    names = []
    for draft in (
        {"name": "main", "url": url, "primary": True},
        {"name": "oslo", "url": "https://oslo.example.test"},
    ):
        names.append(root.http_post("/geo_nodes", post_data=draft)["name"])
    main, oslo = root.geonodes.list(get_all=True)
    seen = {"listed": [main.name, oslo.name], "urls": [main.url == url.rstrip("/") + "/", oslo.url]}
    oslo.enabled = False
    oslo.files_max_capacity = 3
    oslo.save()
    seen["changed"] = pick(root.geonodes.get(oslo.id), "enabled", "files_max_capacity", "repos_max_capacity")
    main.repair()
    seen["repaired"] = [main.name, main.health_status]
    seen["status"] = [main.status()[key] for key in ("geo_node_id", "healthy", "lfs_objects_synced_in_percentage")]
    seen["statuses"] = [one["geo_node_id"] == main.id for one in root.geonodes.status()]
    seen["failures"] = root.geonodes.current_failures()
    seen["none"] = refusal(oslo.status)
    seen["refused"] = refusal(oslo.repair)
    for node in (main, oslo):
        node.delete()
    seen["after"] = refusal(root.geonodes.get, main.id)
    seen["status"][0] = seen["status"][0] == main.id
    return seen


@step
def broadcast_messages():
    made = root.broadcastmessages.create(
        {
            "message": "Maintenance on Sunday",
            "starts_at": "2026-02-03T04:00:00Z",
            "ends_at": "2026-02-03T06:00:00Z",
            "color": "#112233",
            "font": "#ffffff",
            "target_access_levels": [30, 40],
        }
    )
    visitor = as_holder("unknown-token")
    shown = visitor.broadcastmessages.get(made.id)
    seen = {
        "made": pick(made, "message", "starts_at", "ends_at", "color", "font", "target_access_levels", "active"),
        "listed": [one.message for one in visitor.broadcastmessages.list(get_all=True)],
        "shown": pick(shown, "broadcast_type", "theme", "dismissable", "target_path"),
        "refused": refusal(visitor.broadcastmessages.create, {"message": "No"}),
    }
    made.message = "It is over"
    made.target_access_levels = [10]
    made.save()
    seen["changed"] = pick(root.broadcastmessages.get(made.id), "message", "target_access_levels", "color")
    made.delete()
    seen["removed"] = refusal(root.broadcastmessages.get, made.id)
    return seen


@step
def group_wiki():
    return wiki_of(new_group("wiki-keepers"))


@step
def project_wiki():
    return wiki_of(new_project("handbook", new_group("authors")))


def wiki_of(parent):
    page = parent.wikis.create({"title": "Guides/Set up", "content": "# Start", "format": "markdown"})
    names = ("slug", "title", "format", "content", "encoding")
    seen = {"made": pick(page, *names)}
    again = parent.wikis.get("Guides/Set-up")
    again.title = "Run"
    again.content = "Later"
    again.save()
    seen["saved"] = pick(again, *names)
    seen["listed"] = [pick(each, "slug", "content") for each in parent.wikis.list(with_content=True, get_all=True)]
    attached = again.upload("net map.svg", filedata=b"<svg/>")
    seen["attached"] = [attached["file_name"], attached["branch"], attached["link"]["markdown"][:15]]
    seen["duplicate"] = refusal(parent.wikis.create, {"title": "guides/run", "content": ""})
    parent.wikis.delete("Guides/Run")
    seen["after"] = refusal(parent.wikis.get, "Guides/Run")
    return seen


@step
def deploy_tokens():
    group = new_group("pilots")
    project = new_project("ferry", group)
    draft = {"name": "foo", "username": "bar", "expires_at": "2026-02-03", "scopes": ["read_registry"]}
    made = project.deploytokens.create(draft)
    of_group = group.deploytokens.create({"name": "foo", "scopes": ["read_registry"]})
    shown = project.deploytokens.get(made.id)
    names = ("name", "username", "expires_at", "scopes", "revoked", "expired")
    everywhere = [token.id for token in root.deploytokens.list(get_all=True)]
    seen = {
        "made": [len(made.token) > 40, made in project.deploytokens.list(get_all=True)],
        "shown": pick(shown, *names),
        "secret": hasattr(shown, "token"),
        "group": [of_group.expires_at, of_group in group.deploytokens.list(get_all=True)],
        "everywhere": [made.id in everywhere, of_group.id in everywhere],
        "active": [token.id == made.id for token in project.deploytokens.list(active=True, get_all=True)],
        "credential": refusal(as_holder(made.token).auth),
    }
    shown.delete()
    seen["after"] = refusal(project.deploytokens.get, made.id)
    return seen


@step
def notification_settings():
    group = new_group("bells")
    project = new_project("chime", group)
    before = root.notificationsettings.get().level
    everything = root.notificationsettings.get()
    everything.level = gitlab.const.NotificationLevel.WATCH.value
    everything.save()
    of_project = project.notificationsettings.get()
    of_project.level = "custom"
    of_project.new_note = True
    of_project.save()
    of_project = project.notificationsettings.get()
    of_group = group.notificationsettings.get()
    group_before = of_group.level
    of_group.level = "mention"
    of_group.save()
    return {
        "everything": [before, root.notificationsettings.get().level, "@" in everything.notification_email],
        "project": [of_project.level, of_project.events["new_note"], of_project.events["new_epic"]],
        "group": [group_before, group.notificationsettings.get().level],
        "unknown": refusal(root.notificationsettings.update, new_data={"level": "loud"}),
        "reset": root.notificationsettings.update(new_data={"level": before})["level"],
    }


@step
def email_addresses():
    user = new_user("pia")
    user = root.users.get(user.id)
    added = user.emails.create({"email": "pia@home.test", "skip_confirmation": True})
    listed = [each.email for each in user.emails.list(get_all=True)]
    # The client has a method for it, GitLab has no such path.
    one_of_other = refusal(user.emails.get, added.id)
    added.delete()
    root.auth()
    own = root.user.emails.create({"email": "root@home.test"})
    own_listed = [each.email for each in root.user.emails.list(get_all=True)]
    own_shown = pick(root.user.emails.get(own.id), "email", "confirmed_at")
    own.delete()
    return {
        "own": [own_shown, own.email in own_listed, refusal(root.user.emails.get, own.id)],
        "removed": refusal(user.emails.delete, added.id),
        "one_of_other": one_of_other,
        "added": [added.email, added.confirmed_at is not None],
        "listed": "pia@home.test" in listed,
        "left": len(user.emails.list(get_all=True)),
        "invalid": refusal(user.emails.create, {"email": "nowhere"}),
    }


@step
def comments():
    project = new_project("talk", new_group("talkers"))
    issue = project.issues.create({"title": "Leak"})
    note = issue.notes.create({"body": "Look"})
    note.body = "Look here"
    note.save()
    award = note.awardemojis.create({"name": "eyes"})
    discussion = issue.discussions.create({"body": "Why?"})
    reply = discussion.notes.create({"body": "Because"})
    issue.state_event = "close"
    issue.save()
    bodies = [each.body for each in issue.notes.list(get_all=True)]
    note.awardemojis.delete(award.id)
    note.delete()
    sha = project.commits.get("main").id
    comment = project.commits.get(sha).comments.create({"note": "Look", "path": "README.md", "line": 1, "line_type": "new"})
    return {
        "notes": sorted(bodies),
        "reply": pick(reply, "body", "type"),
        "award": pick(award, "name", "awardable_type"),
        "left": len(note.manager.list(get_all=True)),
        "comment": pick(comment, "note", "path", "line"),
        "count": project.issues.get(issue.iid).user_notes_count,
    }


@step
def releases_and_merge():
    project = new_project("ship", new_group("shippers"))
    release = project.releases.create({"tag_name": "v1.0", "ref": "main", "name": "One", "description": "First"})
    link = release.links.create({"url": "https://files.example.test/tool", "name": "Tool"})
    release.description = "The first"
    release.save()
    shown = project.releases.get("v1.0")
    link.delete()
    project.releases.delete("v1.0")
    project.branches.create({"branch": "fix", "ref": "main"})
    project.files.create({"file_path": "a.txt", "branch": "fix", "content": "a", "commit_message": "Add"})
    merge_request = project.mergerequests.create({"source_branch": "fix", "target_branch": "main", "title": "Fix"})
    merge_request.merge(should_remove_source_branch=True)
    return {
        "release": pick(shown, "tag_name", "name", "description"),
        "links": [each["name"] for each in shown.assets["links"]],
        "left": project.releases.list(get_all=True),
        "merged": pick(merge_request, "state"),
        "again": refusal(merge_request.merge),
        "branches": [each.name for each in project.branches.list(get_all=True)],
    }


@step
def hooks():
    project = new_project("hooked", new_group("hooks"))
    url = "https://ci.example.test/in"
    made = project.hooks.create({"url": url, "issues_events": True, "push_events": False, "token": "secret"})
    made.job_events = True
    made.custom_headers = [{"key": "X-Team", "value": "red"}]
    made.save()
    shown = project.hooks.get(made.id)
    shown.save()
    kept = project.hooks.get(made.id)
    seen = {
        "shown": pick(shown, "url", "issues_events", "push_events", "job_events", "custom_headers", "token_present"),
        "kept": kept.attributes == shown.attributes,
        "listed": [each.id == made.id for each in project.hooks.list(get_all=True)],
        "local": refusal(project.hooks.create, {"url": "http://127.0.0.1/"}),
    }
    kept.delete()
    seen["after"] = refusal(project.hooks.get, made.id)
    return seen


@step
def approvals():
    project = new_project("reviews", new_group("reviewers"))
    issue = project.issues.create({"title": "Leak"})
    project.branches.create({"branch": "fix", "ref": "main"})
    project.files.create({"file_path": "a.txt", "branch": "fix", "content": "a", "commit_message": "Add"})
    merge_request = project.mergerequests.create(
        {
            "source_branch": "fix",
            "target_branch": "main",
            "title": "Fix",
            "description": f"Closes #{issue.iid}",
            "reviewer_ids": [root.user.id],
        }
    )
    sha = merge_request.sha
    merge_request.approve(sha=sha)
    again = refusal(merge_request.approve)
    shown = merge_request.approvals.get()
    found = project.mergerequests.list(approved_by_ids=[root.user.id], get_all=True)
    reviewers = [each.state for each in merge_request.reviewer_details.list(get_all=True)]
    merge_request.unapprove()

    def record(status):
        head = {"id": 71, "status": status, "ref": "fix", "sha": sha}
        root.http_put(f"/projects/{project.id}/pipeline_records/71", post_data={"object_attributes": head})

    record("running")
    merge_request.merge(merge_when_pipeline_succeeds=True)
    waiting = pick(merge_request, "state", "merge_when_pipeline_succeeds")
    merge_request.cancel_merge_when_pipeline_succeeds()
    canceled = refusal(merge_request.cancel_merge_when_pipeline_succeeds)
    merge_request.merge(merge_when_pipeline_succeeds=True)
    closes = [each.iid for each in merge_request.closes_issues()]
    record("success")
    return {
        "approved": [each["user"]["username"] for each in shown.approved_by],
        "again": again,
        "found": [each.iid for each in found],
        "rules": merge_request.approval_state.get().rules,
        "reviewers": reviewers,
        "left": merge_request.approvals.get().approved_by,
        "waiting": waiting,
        "canceled": canceled,
        "closes": closes,
        "merged": pick(project.mergerequests.get(merge_request.iid), "state"),
        "issue": pick(project.issues.get(issue.iid), "state"),
    }


@step
def snippets():
    project = new_project("tools", new_group("snips"))
    made = project.snippets.create(
        {
            "title": "Rotate logs",
            "visibility": "private",
            "files": [{"file_path": "a.sh", "content": "rotate"}, {"file_path": "b.sh", "content": "more"}],
        }
    )
    half = {"title": "Half", "visibility": "private", "file_name": "a", "content": ""}
    seen = {
        "made": pick(made, "title", "visibility", "file_name", "description"),
        "shown": project.snippets.get(made.id).attributes == made.attributes,
        "listed": [one.title for one in project.snippets.list(get_all=True)],
        "content": made.content().decode(),
        "client": made.user_agent_detail()["ip_address"],
        "refused": refusal(project.snippets.create, half),
    }
    made.title = "Rotate"
    made.files = [{"action": "update", "file_path": "a.sh", "content": "rotate -f"}]
    made.save()
    seen["changed"] = [project.snippets.get(made.id).title, made.content().decode()]
    made.delete()
    seen["removed"] = refusal(project.snippets.delete, made.id)
    return seen


def result_of(work):
    try:
        return work()
    except Exception:
        return {"raised": traceback.format_exc()}


print(json.dumps({work.__name__: result_of(work) for work in steps}, ensure_ascii=True))
