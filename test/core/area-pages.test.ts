import { join } from 'node:path'
import { expect } from 'vitest'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import { runShell, sectionBlocks, shellBlocks, shellFunction, testWithCurl } from '../page-commands.ts'
import { CoreProcess, ROOT_TOKEN } from './core-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: each page checks the parts that it is about
type Check = (answers: any[]) => void

/** The pages of areas, with a section where a page has several areas, and what their commands must print. */
const areas: Readonly<Record<string, Check>> = {
  'docs/guides/identity.md, OAuth applications': ([list, renewed]) => {
    expect(list).toEqual([expect.objectContaining({ application_name: 'Dashboard', scopes: ['read_api'] })])
    expect(renewed).toMatchObject({ ...list[0], secret: expect.stringMatching(/^svcoas-/) })
  },
  'docs/guides/identity.md, Access requests': ([user, , asked, pending, again, approved, member]) => {
    expect([asked.id, again.id, approved.id, member.id]).toEqual(Array(4).fill(user.id))
    expect([pending.length, approved.access_level, member.access_level]).toEqual([1, 20, 20])
  },
  'docs/guides/work.md, Notifications': ([, , before, everywhere, group, project, reset, email]) => {
    expect([before.level, everywhere.level, group]).toEqual(['participating', 'mention', { level: 'watch' }])
    expect(project).toMatchObject({
      level: 'custom',
      events: { new_note: true, failed_pipeline: false, approver: null },
    })
    expect(reset).toEqual({ level: 'global' })
    expect(email).toEqual({ id: email.id, email: 'root@home.example', confirmed_at: null })
  },
  'docs/guides/work.md, Approvals and automatic merges': ([, , , , approved, [reviewer], merged]) => {
    expect(approved).toMatchObject({ approved: true, approved_by: [{ user: { username: 'root' } }] })
    expect([reviewer.state, merged.state, merged.changes_count]).toEqual(['approved', 'merged', '1'])
  },
  'docs/guides/identity.md, Deploy tokens': ([, , shown, listed, all]) => {
    expect(shown).toMatchObject({ scopes: ['read_registry', 'write_registry'], expired: false })
    expect([listed, all]).toEqual([[shown], []])
  },
  'docs/guides/ci.md, Feature flags': ([, , made, changed, listed]) => {
    const [strategy] = made.strategies
    expect(strategy).toMatchObject({ name: 'gitlabUserList', user_list: { name: 'Testers' } })
    expect([changed.active, listed]).toEqual([false, [changed]])
  },
  'docs/guides/ci.md, Environments and deployments': ([, , changed, environment, listed]) => {
    expect(changed).toMatchObject({
      status: 'success',
      ref: 'main',
      environment: { name: 'staging' },
      deployable: null,
    })
    expect(environment).toMatchObject({ tier: 'staging', last_deployment: { id: changed.id } })
    expect(listed).toMatchObject([{ id: changed.id }])
  },
  'docs/guides/work.md, Context commits': ([, , , , , added, listed, left]) => {
    expect([added[0].title, listed[0].id, left]).toEqual(['Soil', added[0].id, []])
  },
  'docs/guides/work.md, Emoji reactions': ([, , , listed, found, left]) => {
    expect(listed).toMatchObject([{ name: 'seedling', awardable_type: 'Issue', user: { username: 'root' } }])
    expect([found.map(({ title }: Record<string, unknown>) => title), left]).toEqual([['Sow'], []])
  },
  'docs/guides/work.md, Releases': ([, , made, link, changed, listed, , left]) => {
    expect([made.tag_name, made.upcoming_release, link.name]).toEqual(['v1.0', false, 'Manual'])
    expect([changed.upcoming_release, listed[0].assets.links[0].name, left]).toEqual([true, 'Manual', []])
  },
  'docs/guides/work.md, Notes and discussions': ([, , , changed, , listed, left]) => {
    expect(changed).toMatchObject({ body: 'Not before April', noteable_type: 'Issue', noteable_iid: 1 })
    expect(listed.map(({ body, system }: Record<string, unknown>) => [body, system])).toEqual([
      ['Not before April', false],
      ['closed', true],
    ])
    expect(left).toMatchObject([{ body: 'closed' }])
  },
  'docs/guides/webhooks.md': ([, , , hook, tested, events, ci, chat, collector]) => {
    expect(ci).toMatchObject({ push_events: true, push_events_branch_filter: 'release/*', token_present: true })
    expect(chat).toMatchObject({ url: 'https://chat.example.test/hooks/{key}', url_variables: [{ key: 'key' }] })
    expect(collector).toMatchObject({ pipeline_events: true, push_events: false, token_present: true })
    expect(hook).toMatchObject({ issues_events: true, push_events: false, signing_token_present: true })
    expect(tested).toEqual({ message: expect.any(String) })
    expect(events).toMatchObject([{ trigger: 'issue_hooks', url: 'https://ci.example.test/in' }])
  },
  'docs/guides/instance.md, Geo nodes and sites': ([listed, changed, status, applications, repaired, left]) => {
    expect(listed).toMatchObject([
      { primary: true, current: true },
      { name: 'oslo', url: 'https://oslo.example.test/', files_max_capacity: 5 },
    ])
    expect(changed).toMatchObject({ selective_sync_type: 'shards', selective_sync_shards: ['default'] })
    expect(status).toMatchObject({ health_status: 'Healthy', projects_count: 0, lfs_objects_count: null })
    expect(applications).toMatchObject([{ application_name: 'Geo node: https://oslo.example.test/' }])
    expect(repaired).toMatchObject({ id: listed[0].id, geo_node_id: listed[0].id })
    expect(left).toEqual([])
  },
  'docs/guides/work.md, Wikis': ([, made, listed, moved, shown, attached, left, , page, pages]) => {
    expect([made.slug, listed[0].title, moved.slug]).toEqual(['Guides/Set-up', 'Set up', 'Guides/Begin'])
    expect(shown.content).toContain('<em>here</em>')
    expect(attached.link.markdown).toBe(`[trees.csv](${attached.file_path})`)
    expect(left).toEqual([])
    expect([page.content, pages[0].slug]).toEqual(['See #1', 'home'])
  },
  'docs/guides/instance.md, Broadcast messages': ([list, changed, shown]) => {
    expect(list).toEqual([expect.objectContaining({ theme: 'light-blue', dismissable: true, active: true })])
    expect(changed).toEqual({ ...list[0], ends_at: '2099-12-31T18:00:00.000Z', target_path: '/users/*' })
    expect(shown).toEqual(changed)
  },
  'docs/guides/code.md, Snippets': ([list, changed, , personal, titled, removed]) => {
    expect(list).toEqual([expect.objectContaining({ file_name: 'bin/rotate.sh', visibility: 'private' })])
    expect(changed).toMatchObject({ visibility: 'internal', files: [{ path: 'README.md' }, { path: 'rotate.sh' }] })
    expect(personal.data.currentUser.snippets.nodes).toMatchObject([{ title: 'vim', fileName: 'vimrc' }])
    expect(titled).toEqual({ data: { updateSnippet: { errors: [], snippet: { title: 'My vim' } } } })
    expect(removed).toEqual({ data: { destroySnippet: { errors: [] } } })
  },
}

for (const [area, check] of Object.entries(areas)) {
  testWithCurl(`the commands of ${area} work as documented`, async () => {
    const tour = shellBlocks('docs/guides/tour.md', '## A tour of the core', '### The sample workspace')
    const functions = ['api', 'id'].map((name) => shellFunction(tour, name)).join('')
    const [page = '', section] = area.split(', ')
    const blocks = section === undefined ? shellBlocks(page) : sectionBlocks(page, section)
    expect(blocks.length).toBeGreaterThan(0)
    await using directory = await temporaryDirectory()
    await using core = await CoreProcess.start(join(directory.path, 'data'))
    const script = (functions + blocks.join('')).replaceAll('http://127.0.0.1:8080', new URL(core.url).origin)
    const { exitCode, stdout } = await runShell(script, { PRIVATE_TOKEN: ROOT_TOKEN }, directory.path)
    expect(exitCode).toBe(0)
    check(
      stdout
        .split('\n')
        .filter((line) => /^[[{]/.test(line))
        .map((line) => JSON.parse(line)),
    )
  })
}
