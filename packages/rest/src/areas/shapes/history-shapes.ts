import {
  type Archive,
  type BlamedLines,
  type CommitSignatureType,
  type Comparison,
  type ContainingReference,
  type Contributor,
  type ProjectLanguages,
  signatureTime,
} from '@penstock/core'
import { z } from 'zod'
import type { Shape } from '../../routing/route.ts'
import { commitJson, commitSchema } from './commit-shape.ts'
import { diffShape, disposition } from './repository-shapes.ts'

export const comparisonShape: Shape<Comparison> = {
  schema: z
    .object({
      commit: commitSchema.nullable(),
      commits: z.array(commitSchema),
      diffs: z.array(diffShape.schema),
      compare_timeout: z.boolean(),
      compare_same_ref: z.boolean(),
      web_url: z.string(),
    })
    .meta({ id: 'Comparison' }),
  of: ({ project, from, to, isStraight, commits, diffs, isIncomplete, isSameCommit }, context) => {
    const shown = commits.map((commit) => commitJson(commit, context))
    const range = `${encodeURIComponent(from)}${isStraight ? '..' : '...'}${encodeURIComponent(to)}`
    return {
      commit: shown.at(-1) ?? null,
      commits: shown,
      diffs: diffs.map((diff) => diffShape.of(diff, context)),
      compare_timeout: isIncomplete,
      compare_same_ref: isSameCommit,
      web_url: `${context.externalUrl}/${project.fullPath}/-/compare/${range}`,
    }
  },
}

/** A contributor. Lines are not counted, as on GitLab, where both numbers are always 0. */
export const contributorShape: Shape<Contributor> = {
  schema: z
    .object({ name: z.string(), email: z.string(), commits: z.int(), additions: z.int(), deletions: z.int() })
    .meta({ id: 'Contributor' }),
  of: ({ name, email, commits }) => ({ name, email, commits, additions: 0, deletions: 0 }),
}

export const commitRefShape: Shape<ContainingReference> = {
  schema: z.object({ type: z.enum(['branch', 'tag']), name: z.string() }).meta({ id: 'CommitRef' }),
  of: ({ type, name }) => ({ type, name }),
}

export const commitSequenceShape: Shape<{ readonly count: number }> = {
  schema: z.object({ count: z.int() }).meta({ id: 'CommitSequence' }),
  of: ({ count }) => ({ count }),
}

/** The members of each type of signature. Those about the key are null, because no keys of signers are known. */
const signatureMembers: Readonly<Record<CommitSignatureType, object>> = {
  PGP: {
    verification_status: 'unknown_key',
    gpg_key_id: null,
    gpg_key_primary_keyid: null,
    gpg_key_user_name: null,
    gpg_key_user_email: null,
    gpg_key_subkey_id: null,
  },
  SSH: { verification_status: 'unknown_key', key: null },
  X509: { verification_status: 'unverified', x509_certificate: null },
}

export const commitSignatureShape: Shape<{ readonly type: CommitSignatureType }> = {
  schema: z
    .object({
      signature_type: z.enum(['PGP', 'SSH', 'X509']),
      verification_status: z.enum(['unknown_key', 'unverified']),
      gpg_key_id: z.null().optional(),
      gpg_key_primary_keyid: z.null().optional(),
      gpg_key_user_name: z.null().optional(),
      gpg_key_user_email: z.null().optional(),
      gpg_key_subkey_id: z.null().optional(),
      key: z.null().optional(),
      x509_certificate: z.null().optional(),
      commit_source: z.literal('gitaly'),
    })
    .meta({ id: 'CommitSignature' }),
  of: ({ type }) => ({ signature_type: type, ...signatureMembers[type], commit_source: 'gitaly' }),
}

export const blameShape: Shape<BlamedLines> = {
  schema: z
    .object({
      commit: z.object({
        id: z.string(),
        parent_ids: z.array(z.string()),
        message: z.string(),
        authored_date: z.string(),
        author_name: z.string(),
        author_email: z.string(),
        committed_date: z.string(),
        committer_name: z.string(),
        committer_email: z.string(),
      }),
      lines: z.array(z.string()),
    })
    .meta({ id: 'BlamedLines' }),
  of: ({ commit: { sha, parentShas, message, author, committer }, lines }) => ({
    commit: {
      id: sha,
      parent_ids: parentShas,
      message,
      authored_date: signatureTime(author),
      author_name: author.name,
      author_email: author.email,
      committed_date: signatureTime(committer),
      committer_name: committer.name,
      committer_email: committer.email,
    },
    lines,
  }),
}

export const archiveContent = ({ contentType, stream }: Archive) => ({ type: contentType, body: stream })
export const archiveHeaders = ({ fileName }: Archive) => ({
  'Content-Disposition': disposition('attachment', fileName),
})

/** The share of each language in percent, by name. */
export const languagesShape: Shape<ProjectLanguages> = {
  schema: z.record(z.string(), z.number()).meta({ id: 'Languages' }),
  of: ({ shares }) => Object.fromEntries(shares.map(({ name, share }) => [name, share])),
}
