import { type ProbedService, secrets } from './probed-service.ts'
import type { WorstBody } from './worst-bodies.ts'

/** The bound on a turn while an answer is built. */
const ANSWER_TURN_MS = 200
const COPIES = 12
/** JSON writes two bytes for each of these characters, and HTML six. */
const QUOTE = '"'
const headers = { 'PRIVATE-TOKEN': secrets.rootToken }

/** Stores the longest texts in the project, as many as exceed an answer. The labels are those of each issue. */
export async function storeLongTexts({ coreUrl }: ProbedService, project: number): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${coreUrl}/api/v4/projects/${project}/${path}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status !== 201) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
  const action = { action: 'create', file_path: 'a.txt', content: 'a' }
  await post('repository/commits', { branch: 'main', commit_message: 'first', actions: [action] })
  const names = Array.from({ length: 4 * COPIES }, (_, index) => `long-${index}`)
  for (const name of names) await post('labels', { name, color: '#ff0000', description: QUOTE.repeat(65_536) })
  for (let copy = 0; copy < COPIES; copy += 1) {
    await post('issues', { title: `long ${copy}`, description: QUOTE.repeat(900_000), labels: names.join() })
    await post('milestones', { title: `long ${copy}`, description: QUOTE.repeat(65_536) })
    await post('issues/1/notes', { body: QUOTE.repeat(900_000) })
    await post('releases', { tag_name: `v${copy}`, ref: 'main', description: QUOTE.repeat(900_000) })
  }
}

const answer = (project: number, path: string, more: Partial<WorstBody> = {}): WorstBody => ({
  listener: 'answer',
  what: path,
  method: 'GET',
  url: ({ coreUrl }) => `${coreUrl}/api/v4/projects/${project}/${path}`,
  headers,
  body: () => '',
  boundMs: ANSWER_TURN_MS,
  ...more,
})

/** Requests for the longest texts: each answer is refused or cut by its limit. */
export const worstAnswers = (project: number): readonly WorstBody[] => [
  answer(project, 'issues?per_page=100&with_labels_details=true'),
  answer(project, 'issues?per_page=100&pagination=keyset&order_by=created_at'),
  answer(project, 'issues/1?with_labels_details=true'),
  answer(project, 'issues/1/notes?per_page=100'),
  answer(project, 'issues/1/discussions?per_page=100'),
  answer(project, 'releases?per_page=100&include_html_description=true'),
  answer(project, 'labels?per_page=100'),
  answer(project, 'milestones?per_page=100'),
  answer(project, 'repository/tags?per_page=100'),
  answer(project, '', {
    what: 'Observe: log records',
    url: ({ managementUrl }) => `${managementUrl}/api/v1/observe/logs?limit=1000`,
    headers: { 'OBS-API-KEY': secrets.apiKey },
  }),
  answer(project, '', {
    what: 'GraphQL: descriptions of issues and labels',
    method: 'POST',
    url: ({ coreUrl }) => `${coreUrl}/api/graphql`,
    headers: { Authorization: `Bearer ${secrets.rootToken}`, 'Content-Type': 'application/json' },
    body: () =>
      JSON.stringify({
        query:
          '{ project(fullPath: "root/turns") { issues { nodes { description labels { nodes { description } } } } } }',
      }),
  }),
]
