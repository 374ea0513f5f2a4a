import {
  issueAwards,
  issueNoteAwards,
  mergeRequestAwards,
  mergeRequestNoteAwards,
  snippetAwards,
  snippetNoteAwards,
} from '@penstock/core'
import type { Answer, MatrixRow } from '../http-matrix-row.ts'
import { basicUser, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { Maker, MatrixArea } from '../matrix-area.ts'
import { area as notes } from './notes.ts'

const award: Shape = {
  exactly: {
    id: 'int',
    name: 'text',
    user: basicUser,
    created_at: 'time',
    updated_at: 'time',
    awardable_id: 'int',
    awardable_type: 'text',
    url: { is: null },
  },
}

/** As on GitLab, those who may not react are answered as if the reaction could not be found. */
const notFound: Answer = { status: 404, body: { message: '404 Award Emoji Not Found' } }

/** The things with their operations; those on a note get the note that the thing is created with. */
const awarded = [
  { name: 'issue', path: '/projects/:id/issues/:issue_iid', reads: 10, on: issueAwards, onNote: issueNoteAwards },
  {
    name: 'merge request',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    reads: 20,
    on: mergeRequestAwards,
    onNote: mergeRequestNoteAwards,
  },
  {
    name: 'snippet',
    path: '/projects/:id/snippets/:snippet_id',
    reads: 10,
    on: snippetAwards,
    onNote: snippetNoteAwards,
  },
] as const

const rows: MatrixRow[] = []
const things: Record<string, Maker> = {}

for (const { name, path, reads, on, onNote } of awarded) {
  const noted = notes.things[`note on ${name}`]!
  for (const [thing, at, create] of [
    [`award on ${name}`, path, on.create],
    [`award on note on ${name}`, `${path}/notes/:note_id`, onNote.create],
  ] as const) {
    const reading = { may: { project: reads }, visitors: 'anyone', needs: [thing] } as const
    const writing = { may: { project: reads }, visitors: 'signed in' } as const
    rows.push(
      { call: `GET ${at}/award_emoji`, ...reading, answer: [200, listOf(award)] },
      { call: `GET ${at}/award_emoji/:award_id`, ...reading, answer: [200, award] },
      {
        call: `POST ${at}/award_emoji`,
        ...writing,
        needs: [`note on ${name}`],
        answer: [201, award],
        send: { name: 'tada' },
        except: { 'bot of another project, public': notFound },
      },
      { call: `DELETE ${at}/award_emoji/:award_id`, ...writing, needs: [`own ${thing}`], answer: [204] },
    )
    things[thing] = async (context) => {
      const values = await noted(context)
      const { world, root } = context.server
      const input = {
        project: context.parent!.id,
        ...('issue_iid' in values && { issueIid: values.issue_iid }),
        ...('merge_request_iid' in values && { mergeRequestIid: values.merge_request_iid }),
        ...('snippet_id' in values && { snippetId: values.snippet_id }),
        noteId: values.note_id,
        name: 'heart',
      }
      return { ...values, award_id: (await world.perform(root, create, input)).id }
    }
    things[`own ${thing}`] = async (context) => {
      const values = await things[thing]!(context)
      await context.server.world.core.db.write((db) =>
        db
          .updateTable('award_emoji')
          .set({ user_id: context.caller.id })
          .where('id', '=', Number(values.award_id))
          .execute(),
      )
      return values
    }
  }
}

export const area: MatrixArea = { access: {}, rows, things }
