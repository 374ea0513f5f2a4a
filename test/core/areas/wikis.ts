import { groupWikis, projectWikis } from '@penstock/core'
import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const members = { format: 'text', slug: 'text', title: 'text', wiki_page_meta_id: 'int' } as const
const page: Shape = { exactly: { ...members, content: 'text', encoding: { is: 'UTF-8' }, front_matter: 'map' } }
const attachment: Shape = {
  exactly: {
    file_name: 'text',
    file_path: 'text',
    branch: 'text',
    link: { exactly: { url: 'text', markdown: 'text' } },
  },
}

const needs = ['wiki page']

const rows = parentKinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/wikis`
  const one = `${all}/*slug`
  const reads = { may: leastOf(kind, 10), visitors: 'anyone', needs } as const
  const writes = { may: leastOf(kind, 15) } as const
  return [
    { call: `GET ${all}`, ...reads, answer: [200, listOf({ exactly: members })] },
    { call: `GET ${all} : with content`, ...reads, answer: [200, listOf(page)], send: { with_content: true } },
    { call: `GET ${one}`, ...reads, answer: [200, page] },
    { call: `POST ${all}`, ...writes, answer: [201, page], send: { title: '{new}', content: 'Text' } },
    { call: `POST ${all}/attachments`, ...writes, answer: [201, attachment], file: 'file' },
    { call: `PUT ${one}`, ...writes, needs, answer: [200, page], send: { content: 'More' } },
    { call: `DELETE ${one}`, ...writes, needs, answer: [204] },
  ]
})

export const area: MatrixArea = {
  access: {
    read_wiki: {
      rule: 'everyone who sees the group or project, except with minimal access',
      group: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    write_wiki: {
      rule: 'Planners, Developers and higher; not Reporters',
      group: '--nnynnyyyy -nnnynnyyyy nnnnynnyyyy',
      project: '---nynnyyyy -nnnynnyyyy nnnnynnyyyy',
    },
    remove_wiki: {
      rule: 'Planners, Maintainers and higher; not Reporters and Developers',
      group: '--nnynnnyyy -nnnynnnyyy nnnnynnnyyy',
      project: '---nynnnyyy -nnnynnnyyy nnnnynnnyyy',
    },
  },

  rows,

  things: {
    'wiki page': async ({ server, parent }) => {
      const draft = { parent: parent!.id, title: server.word('page'), content: 'Text' }
      const { create } = parent!.kind === 'group' ? groupWikis : projectWikis
      return { slug: (await server.world.perform(server.root, create, draft)).slug }
    },
  },
}
