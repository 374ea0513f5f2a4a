import { GraphQLError } from 'graphql'

/**
 * The last part but one of a Global ID: what it is the id of.
 *
 * @see spec/graphql-contract.md 3.3
 */
export type Model =
  | 'User'
  | 'Project'
  | 'Group'
  | 'Namespaces::UserNamespace'
  | 'ProjectMember'
  | 'GroupMember'
  | 'Ci::Pipeline'
  | 'Ci::Stage'
  | 'Ci::Build'
  | 'Ci::Bridge'
  | 'Ci::JobArtifact'
  | 'Ci::Runner'
  | 'Ci::Variable'
  | 'Ci::GroupVariable'
  | 'Ci::InstanceVariable'
  | 'Milestone'
  | 'Issue'
  | 'MergeRequest'
  | 'ProjectLabel'
  | 'GroupLabel'
  | 'CommitPresenter'
  | 'Blob'

/** Scalars that take the ids of some models. */
export const idScalars = {
  UserID: { of: 'User', models: ['User'] },
  NamespaceID: { of: 'Namespace', models: ['Group', 'Namespaces::UserNamespace', 'Namespace'] },
  GroupID: { of: 'Group', models: ['Group'] },
  ProjectID: { of: 'Project', models: ['Project'] },
  LabelID: { of: 'Label', models: ['ProjectLabel', 'GroupLabel', 'Label'] },
  MilestoneID: { of: 'Milestone', models: ['Milestone'] },
  IssueID: { of: 'Issue', models: ['Issue', 'WorkItem'] },
  MergeRequestID: { of: 'MergeRequest', models: ['MergeRequest'] },
  CiPipelineID: { of: 'Ci::Pipeline', models: ['Ci::Pipeline'] },
  CiStageID: { of: 'Ci::Stage', models: ['Ci::Stage'] },
  CiBuildID: { of: 'Ci::Build', models: ['Ci::Build'] },
  CiProcessableID: { of: 'Ci::Processable', models: ['Ci::Build', 'Ci::Bridge', 'Ci::Processable'] },
  JobID: { of: 'CommitStatus', models: ['Ci::Build', 'Ci::Bridge', 'GenericCommitStatus', 'CommitStatus'] },
  CiJobArtifactID: { of: 'Ci::JobArtifact', models: ['Ci::JobArtifact'] },
  CiRunnerID: { of: 'Ci::Runner', models: ['Ci::Runner'] },
} as const satisfies Record<string, { readonly of: string; readonly models: readonly string[] }>
export type IdScalar = keyof typeof idScalars

const form = /^gid:\/\/([^/]+)\/([A-Za-z:]+)\/(\d{1,16})$/

/** `undefined`: none, or one with a number beyond those that JavaScript tells apart. */
function partsOf(text: unknown): { readonly service: string; readonly model: string; readonly id: number } | undefined {
  const [, service, model, digits] = (typeof text === 'string' && form.exec(text)) || []
  const id = Number(digits)
  return Number.isSafeInteger(id) ? { service: service!, model: model!, id } : undefined
}

/** Global IDs of one service. */
export class GlobalIds {
  readonly #serviceName: string

  constructor(serviceName: string) {
    this.#serviceName = serviceName
  }

  of(model: Model, id: number | string): string {
    return this.other(model, id)
  }

  /** Of a kind beside the models, as of what the core keeps nothing of: `DetailedStatus`. */
  other(type: string, id: number | string): string {
    return `gid://${this.#serviceName}/${type}/${id}`
  }

  /** The number, of one of the scalar's models. @throws GraphQLError that says what is wrong, for the place of the value */
  numberIn(text: unknown, scalar: IdScalar): number {
    const parts = partsOf(text)
    if (parts === undefined) throw new GraphQLError(`${JSON.stringify(text)} is not a valid Global ID`)
    if (parts.service !== this.#serviceName) {
      throw new GraphQLError(`${JSON.stringify(text)} is not a ${this.#shownName} Global ID`)
    }
    const { of, models } = idScalars[scalar]
    if (!(models as readonly string[]).includes(parts.model)) {
      throw new GraphQLError(`${JSON.stringify(text)} does not represent an instance of ${of}`)
    }
    return parts.id
  }

  /** The number in an argument of the type `ID` that means a Global ID. @throws GraphQLError for its field */
  numberInArgument(text: string, ...models: readonly Model[]): number {
    const parts = partsOf(text)
    if (parts?.service !== this.#serviceName) {
      throw new GraphQLError(`${text} is not a valid ${this.#shownName} ID.`)
    }
    if (!(models as readonly string[]).includes(parts.model)) {
      throw new GraphQLError(`${text} is not a valid ID for ${models.join(' or ')}.`)
    }
    return parts.id
  }

  /** The same of several; of none, where there is no argument. @throws GraphQLError for its field */
  numbersInArgument(texts: readonly string[] | null | undefined, ...models: readonly Model[]): number[] | undefined {
    return texts?.map((text) => this.numberInArgument(text, ...models))
  }

  /** The number in an argument that on the platform may be a bare number as well. @throws GraphQLError for its field */
  numberInLaxArgument(text: string, ...models: readonly Model[]): number {
    return /^\d{1,15}$/.test(text) ? Number(text) : this.numberInArgument(text, ...models)
  }

  get #shownName(): string {
    return this.#serviceName.replace(/^./, (letter) => letter.toUpperCase())
  }
}
