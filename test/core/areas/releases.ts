import { createRelease } from '@penstock/core'
import { withRepository } from '../http-matrix-repository-things.ts'
import type { MatrixRow } from '../http-matrix-row.ts'
import { basicUser, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const release: Shape = {
  has: {
    name: 'text',
    description: 'text?',
    created_at: 'time',
    released_at: 'time',
    upcoming_release: 'flag',
    author: basicUser,
    assets: { has: { count: 'int', links: { listOf: 'map' } } },
    _links: 'map',
  },
}
const link: Shape = {
  exactly: { id: 'int', name: 'text', url: 'text', direct_asset_url: 'text', link_type: 'text' },
}

const releases = '/projects/:id/releases'
const one = `${releases}/:tag_name`
const links = `${one}/assets/links`
const oneLink = `${links}/:link_id`
const needs = ['release']
const reads = { may: { project: 20 }, visitors: 'anyone', job: true, needs } as const
const writes = { may: { project: 30 }, job: true, needs } as const
const page = { name: 'Manual', url: 'https://docs.example.test/manual' }

export const area: MatrixArea = {
  access: {
    read_release: {
      rule: 'everyone who sees the project',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    write_release: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
  },

  rows: [
    { call: `GET ${releases}`, ...reads, may: { project: 10 }, answer: [200, listOf(release)] },
    { call: `GET ${one}`, ...reads, answer: [200, release] },
    { call: `POST ${releases}`, ...writes, answer: [201, release], send: { tag_name: '{new}', ref: 'main' } },
    { call: `PUT ${one}`, ...writes, answer: [200, release], send: { name: 'Spring' } },
    { call: `DELETE ${one}`, ...writes, answer: [200, release] },
    { call: `GET ${links}`, ...reads, answer: [200, listOf(link)] },
    { call: `GET ${oneLink}`, ...reads, answer: [200, link] },
    { call: `POST ${links}`, ...writes, answer: [201, link], send: page },
    { call: `PUT ${oneLink}`, ...writes, answer: [200, link], send: { name: 'Guide' } },
    { call: `DELETE ${oneLink}`, ...writes, answer: [200, link] },
  ] satisfies MatrixRow[],

  things: {
    release: async ({ server, parent }) => {
      const { world, root } = server
      await withRepository(server, parent!)
      const tagName = server.word('v')
      const assets = { links: [{ name: 'Tool', url: 'https://files.example.test/tool' }] }
      const made = await world.perform(root, createRelease, { project: parent!.id, tagName, ref: 'main', assets })
      return { tag_name: tagName, link_id: made.links[0]!.id }
    },
  },
}
