"""One object of each kind behind the API, created on first use, and created again if it is gone."""

import datetime
import uuid

import requests

BASICS = {"group", "project", "user"}


class World:
    def __init__(self, api, token):
        self._api = api
        self._session = requests.Session()
        self._session.headers["PRIVATE-TOKEN"] = token
        own = self.call("GET", "/personal_access_tokens/self")
        self.administrator_id = own["user_id"]
        self.administrator_token_id = own["id"]
        self._made = {}
        self._authored = 0

    def __getitem__(self, name):
        try:
            return self._made_or_new(name)
        except RuntimeError:
            # Another call has removed, archived or filled the parent of the object.
            self._made.clear()
            return self._made_or_new(name)

    def _made_or_new(self, name):
        if name not in self._made:
            self._made[name] = getattr(self, f"_{name}")()
        return self._made[name]

    def forget(self, name):
        """Forgets an object. A basic object takes all others with it, because most belong to the group, the project or the user."""
        if name in BASICS:
            self._made.clear()
        else:
            self._made.pop(name, None)

    def own_token(self):
        """Returns a new token of the administrator, for a call that revokes or rotates its own token."""
        return self._token(f"/users/{self.administrator_id}/personal_access_tokens")["token"]

    def bot_token(self, kind):
        return self._token(f"/{kind}s/{self[kind]['id']}/access_tokens", access_level=50)["token"]

    def star(self):
        """Stars the project, so that its star can be taken away. The status is 304 if it has one."""
        self._session.post(f"{self._api}/projects/{self['project']['id']}/star", timeout=30)

    def call(self, method, path, /, sudo=None, **fields):
        headers = {} if sudo is None else {"Sudo": str(sudo)}
        response = self._session.request(method, self._api + path, json=fields, headers=headers, timeout=30)
        if response.status_code >= 300:
            raise RuntimeError(f"{method} {path}: {response.status_code} {response.text[:500]}")
        return response.json()

    def _group(self):
        word = fresh_word()
        return self.call("POST", "/groups", name=word, path=word, visibility="public")

    def _project(self):
        word = fresh_word()
        group = self["group"]["id"]
        project = self.call("POST", "/projects", name=word, path=word, namespace_id=group, visibility="public")
        repository = f"/projects/{project['id']}/repository"
        actions = [
            {"action": "create", "file_path": "README.md", "content": "# Hello\n"},
            {"action": "create", "file_path": "src/a.bin", "content": "AAH/", "encoding": "base64"},
        ]
        self.call("POST", f"{repository}/commits", branch="main", commit_message="Begin", actions=actions)
        return project

    def _user(self):
        user = self["stranger"]
        self.forget("stranger")
        return user

    def _stranger(self):
        word = fresh_word()
        return self.call(
            "POST", "/users", username=word, name=word, email=f"{word}@example.test", password="correct-horse-9"
        )

    def _group_member(self):
        return self._member("group")

    def _project_member(self):
        return self._member("project")

    def _member(self, kind):
        user = self._user()
        self.call("POST", f"/{kind}s/{self[kind]['id']}/members", user_id=user["id"], access_level=30)
        return user

    def _requester(self):
        """Returns a user who has requested access to the group and to the project."""
        user = self._user()
        for place in (f"/groups/{self['group']['id']}", f"/projects/{self['project']['id']}"):
            self.call("POST", f"{place}/access_requests?sudo={user['id']}")
        return user

    def _commit(self):
        return self.call("GET", f"/projects/{self['project']['id']}/repository/commits/main")

    def _unpicked(self):
        """Returns a commit that only its own branch has."""
        branch = fresh_word()
        action = {"action": "create", "file_path": f"picked/{branch}", "content": "Hello\n"}
        commit = self._in(
            "project", "repository/commits", branch=branch, start_branch="main", commit_message="Add", actions=[action]
        )
        return {**commit, "branch": branch}

    def _blob(self):
        tree = self.call("GET", f"/projects/{self['project']['id']}/repository/tree")
        return next(entry for entry in tree if entry["type"] == "blob")

    def _branch(self):
        return self._in("project", "repository/branches", branch=fresh_word(), ref="main")

    def _tag(self):
        return self._in("project", "repository/tags", tag_name=fresh_word(), ref="main", message="The first")

    def _file(self):
        path = f"docs/{fresh_word()}.md"
        action = {"action": "create", "file_path": path, "content": "Hello\n"}
        self._in("project", "repository/commits", branch="main", commit_message="Add", actions=[action])
        return {"file_path": path}

    def _issue(self):
        return self._in("project", "issues", title="Leak", milestone_id=self["project_milestone"]["id"], labels="bug")

    def _merge_request(self):
        source = self["branch"]["name"]
        self.forget("branch")
        return self._in("project", "merge_requests", title="Fix", source_branch=source, target_branch="main")

    def _approved_merge_request(self):
        made = self["merge_request"]
        self.forget("merge_request")
        return self._in("project", f"merge_requests/{made['iid']}/approve")

    def _waiting_merge_request(self):
        """Returns a merge request that is to be merged when its pipeline succeeds."""
        made = self["merge_request"]
        self.forget("merge_request")
        number = int(uuid.uuid4().int % 2**31) + 1
        head = {"id": number, "status": "running", "ref": made["source_branch"], "sha": made["sha"]}
        project = f"/projects/{made['project_id']}"
        self.call("PUT", f"{project}/pipeline_records/{number}", object_attributes=head)
        return self.call("PUT", f"{project}/merge_requests/{made['iid']}/merge", auto_merge=True)

    def _group_milestone(self):
        return self._in("group", "milestones", title=fresh_word(), due_date="2026-05-31")

    def _project_milestone(self):
        return self._in("project", "milestones", title=fresh_word(), due_date="2026-05-31")

    def _group_label(self):
        return self._in("group", "labels", name=fresh_word(), color="#aa0000")

    def _project_label(self):
        return self._in("project", "labels", name=fresh_word(), color="#aa0000")

    def _group_variable(self):
        return self._in("group", "variables", key=fresh_word(), value="value")

    def _project_variable(self):
        return self._in("project", "variables", key=fresh_word(), value="value")

    def _snippet(self):
        files = [{"file_path": "docs/a.md", "content": "# Hello\n"}, {"file_path": "b.txt", "content": "b"}]
        return self._in(
            "project", "snippets", sudo=self._author(), title=fresh_word(), visibility="public", files=files
        )

    def _hook(self):
        # A call of the run may have set it, and every URL of a hook would be refused.
        self.call("PUT", "/application/settings", deny_all_requests_except_allowed=False)
        variables = [{"key": "tenant", "value": "a"}]
        headers = [{"key": "X-Team", "value": "b"}]
        url = "https://ci.example.test/in"
        hook = self._in("project", "hooks", url=url, url_variables=variables, custom_headers=headers)
        return {**hook, "variable": "tenant", "header": "X-Team"}

    def _primary_geo_node(self):
        """Returns the node that has a status and can be repaired. There is at most one."""
        nodes = self.call("GET", "/geo_nodes?per_page=100")
        if not nodes:
            return self.call("POST", "/geo_nodes", name=fresh_word(), url=fresh_site(), primary=True)
        primary = next((node for node in nodes if node["primary"]), None)
        return primary or self.call("PUT", f"/geo_nodes/{nodes[0]['id']}", primary=True)

    def _release(self):
        links = [{"name": "Manual", "url": "https://files.example.test/manual"}]
        release = self._in("project", "releases", tag_name=fresh_word(), ref="main", assets={"links": links})
        return {**release, "link_id": release["assets"]["links"][0]["id"]}

    def _issue_discussion(self):
        return self._discussion(self._path_of_issue())

    def _merge_request_discussion(self):
        return self._discussion(self._path_of_merge_request())

    def _snippet_discussion(self):
        return self._discussion(self._path_of_snippet())

    def _commit_discussion(self):
        return self._discussion(f"/projects/{self['project']['id']}/repository/commits/{self['commit']['id']}")

    def _issue_award(self):
        return self._award(self._path_of_issue())

    def _merge_request_award(self):
        return self._award(self._path_of_merge_request())

    def _snippet_award(self):
        return self._award(self._path_of_snippet())

    def _issue_note_award(self):
        return self._award(f"{self._path_of_issue()}/notes/{self['issue_discussion']['note_id']}")

    def _merge_request_note_award(self):
        return self._award(f"{self._path_of_merge_request()}/notes/{self['merge_request_discussion']['note_id']}")

    def _snippet_note_award(self):
        return self._award(f"{self._path_of_snippet()}/notes/{self['snippet_discussion']['note_id']}")

    def _path_of_issue(self):
        return f"/projects/{self['project']['id']}/issues/{self['issue']['iid']}"

    def _path_of_merge_request(self):
        return f"/projects/{self['project']['id']}/merge_requests/{self['merge_request']['iid']}"

    def _path_of_snippet(self):
        return f"/projects/{self['project']['id']}/snippets/{self['snippet']['id']}"

    def _discussion(self, path):
        made = self.call("POST", f"{path}/discussions", sudo=self._author(), body="Look")
        return {**made, "note_id": made["notes"][0]["id"]}

    def _award(self, path):
        return self.call("POST", f"{path}/award_emoji", sudo=self._author(), name="rocket")

    def _author(self):
        """Returns the id of an administrator. There is a new one for every 100 objects, because users may create 300 in a while."""
        if self._authored % 100 == 0:
            self._author_id = self._administrator()
        self._authored += 1
        return self._author_id

    def _administrator(self):
        word = fresh_word()
        user = self.call(
            "POST",
            "/users",
            username=word,
            name=word,
            email=f"{word}@example.test",
            password="correct-horse-9",
            admin=True,
        )
        return user["id"]

    def _snippet_file(self):
        return {"path": self["snippet"]["files"][0]["path"], "ref": "main"}

    def _pipeline(self):
        number = int(uuid.uuid4().int % 2**31) + 1
        record = record_of(number)
        return self.call("PUT", f"/projects/{self['project']['id']}/pipeline_records/{number}", **record)

    def _job(self):
        return self.call("GET", f"/projects/{self['project']['id']}/pipelines/{self['pipeline']['id']}/jobs")[0]

    def _application(self):
        return self.call("POST", "/applications", name="Board", redirect_uri="https://board.example.test/cb", scopes="api")

    def _broadcast_message(self):
        return self.call("POST", "/broadcast_messages", message="Maintenance")

    def _group_wiki_page(self):
        return self._wiki_page("group")

    def _project_wiki_page(self):
        return self._wiki_page("project")

    def _wiki_page(self, kind):
        return self._in(kind, "wikis", title=f"guides/{fresh_word()}", content="Hello")

    def _group_deploy_token(self):
        return self._deploy_token("group")

    def _project_deploy_token(self):
        return self._deploy_token("project")

    def _deploy_token(self, kind):
        return self._in(kind, "deploy_tokens", name="seed", scopes=["read_registry"], expires_at=in_days(30))

    def _environment(self):
        """Returns an environment that may be deleted, because it is stopped."""
        environment = self._in("project", "environments", name=fresh_word())
        self.call("POST", f"/projects/{self['project']['id']}/environments/{environment['id']}/stop")
        return environment

    def _deployment(self):
        """Returns a deployment that may be deleted, because it is not the last one."""
        common = {"environment": fresh_word(), "ref": "main", "tag": False}
        made = self._in("project", "deployments", sha="1" * 40, status="failed", **common)
        self._in("project", "deployments", sha="2" * 40, status="success", **common)
        return made

    def _feature_flag(self):
        return self._in("project", "feature_flags", name=fresh_word())

    def _user_list(self):
        return self._in("project", "feature_flags_user_lists", name=fresh_word(), user_xids="1,2")

    def _group_token(self):
        return self._token(f"/groups/{self['group']['id']}/access_tokens")

    def _project_token(self):
        return self._token(f"/projects/{self['project']['id']}/access_tokens")

    def _personal_token(self):
        return self._token(f"/users/{self['user']['id']}/personal_access_tokens")

    def _impersonation_token(self):
        return self._token(f"/users/{self['user']['id']}/impersonation_tokens")

    def _in(self, kind, what, /, **fields):
        return self.call("POST", f"/{kind}s/{self[kind]['id']}/{what}", **fields)

    def _token(self, path, /, **fields):
        return self.call("POST", path, name="seed", scopes=["api"], expires_at=in_days(30), **fields)


def record_of(pipeline):
    """Returns the body of a pipeline hook."""
    run = {"id": pipeline, "status": "success", "ref": "main", "sha": "a1", "source": "push", "tag": False}
    return {
        "object_attributes": run,
        "builds": [{"id": pipeline * 2, "name": "unit", "status": "success"}],
        "bridges": [{"id": pipeline * 2 + 1, "name": "deploy", "status": "success"}],
    }


def fresh_word():
    return f"w{uuid.uuid4().hex[:12]}"


def fresh_site():
    return f"https://{fresh_word()}.example.test/"


def in_days(days):
    return (datetime.date.today() + datetime.timedelta(days=days)).isoformat()
