import { GraphQLError } from 'graphql'

/** The type in a Global ID: `Project` in `gid://svc/Project/1`. */
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
  | 'PersonalSnippet'
  | 'ProjectSnippet'
  | 'CommitPresenter'
  | 'Blob'
  | 'WikiPage::Meta'
  | 'GeoNode'
  | 'ProjectHook'
  | 'GroupHook'
  | 'WebHookLog'

/** The scalars for Global IDs, each with the models that it accepts and the name for them in error messages. */
export const idScalars = {
  UserID: { of: 'User', models: ['User'] },
  NamespaceID: { of: 'Namespace', models: ['Group', 'Namespaces::UserNamespace', 'Namespace'] },
  GroupID: { of: 'Group', models: ['Group'] },
  ProjectID: { of: 'Project', models: ['Project'] },
  LabelID: { of: 'Label', models: ['ProjectLabel', 'GroupLabel', 'Label'] },
  MilestoneID: { of: 'Milestone', models: ['Milestone'] },
  IssueID: { of: 'Issue', models: ['Issue', 'WorkItem'] },
  MergeRequestID: { of: 'MergeRequest', models: ['MergeRequest'] },
  SnippetID: { of: 'Snippet', models: ['PersonalSnippet', 'ProjectSnippet', 'Snippet'] },
  CiPipelineID: { of: 'Ci::Pipeline', models: ['Ci::Pipeline'] },
  CiStageID: { of: 'Ci::Stage', models: ['Ci::Stage'] },
  CiBuildID: { of: 'Ci::Build', models: ['Ci::Build'] },
  CiProcessableID: { of: 'Ci::Processable', models: ['Ci::Build', 'Ci::Bridge', 'Ci::Processable'] },
  JobID: { of: 'CommitStatus', models: ['Ci::Build', 'Ci::Bridge', 'GenericCommitStatus', 'CommitStatus'] },
  CiJobArtifactID: { of: 'Ci::JobArtifact', models: ['Ci::JobArtifact'] },
  WikiPageMetaID: { of: 'WikiPage::Meta', models: ['WikiPage::Meta'] },
  ProjectHookID: { of: 'ProjectHook', models: ['ProjectHook'] },
  GroupHookID: { of: 'GroupHook', models: ['GroupHook'] },
  WebHookLogID: { of: 'WebHookLog', models: ['WebHookLog'] },
  CiRunnerID: { of: 'Ci::Runner', models: ['Ci::Runner'] },
} as const satisfies Record<string, { readonly of: string; readonly models: readonly string[] }>
export type IdScalar = keyof typeof idScalars

/** A namespace in an argument. The number alone would not tell a group from a user. */
export interface NamespaceReference {
  readonly model: string
  readonly id: number
}

const form = /^gid:\/\/([^/]+)\/([A-Za-z:]+)\/(\d{1,16})$/

/** Splits a Global ID. Returns `undefined` if the text is not one, or its number is not a safe integer. */
function partsOf(text: unknown): { readonly service: string; readonly model: string; readonly id: number } | undefined {
  const [, service, model, digits] = (typeof text === 'string' && form.exec(text)) || []
  const id = Number(digits)
  return Number.isSafeInteger(id) ? { service: service!, model: model!, id } : undefined
}

/** Prints and parses the Global IDs of one service. */
export class GlobalIds {
  readonly #serviceName: string

  constructor(serviceName: string) {
    this.#serviceName = serviceName
  }

  of(model: Model, id: number | string): string {
    return this.ofType(model, id)
  }

  /** Returns an id of a type that is not a model, such as `DetailedStatus`. Such ids cannot be looked up. */
  ofType(type: string, id: number | string): string {
    return `gid://${this.#serviceName}/${type}/${id}`
  }

  /** Returns the number of an id of one of the scalar's models. @throws GraphQLError at the position of the value */
  numberIn(text: unknown, scalar: IdScalar): number {
    return this.referenceIn(text, scalar).id
  }

  /** Returns the model and the number of an id of one of the scalar's models. @throws GraphQLError like `numberIn` */
  referenceIn(text: unknown, scalar: IdScalar): NamespaceReference {
    const parts = partsOf(text)
    if (parts === undefined) throw new GraphQLError(`${JSON.stringify(text)} is not a valid Global ID`)
    if (parts.service !== this.#serviceName) {
      throw new GraphQLError(`${JSON.stringify(text)} is not a ${this.#shownName} Global ID`)
    }
    const { of, models } = idScalars[scalar]
    if (!(models as readonly string[]).includes(parts.model)) {
      throw new GraphQLError(`${JSON.stringify(text)} does not represent an instance of ${of}`)
    }
    return parts
  }

  /** Returns the number of a Global ID in an argument of type `ID`. @throws GraphQLError for the field */
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

  /** Returns the numbers of several Global IDs; `undefined` if the argument is absent. @throws GraphQLError for the field */
  numbersInArgument(texts: readonly string[] | null | undefined, ...models: readonly Model[]): number[] | undefined {
    return texts?.map((text) => this.numberInArgument(text, ...models))
  }

  /**
   * Returns the number of an argument that may be a Global ID or, as on GitLab, a bare number.
   *
   * @throws GraphQLError for the field
   */
  numberInIdOrNumber(text: string, ...models: readonly Model[]): number {
    return /^\d{1,15}$/.test(text) ? Number(text) : this.numberInArgument(text, ...models)
  }

  get #shownName(): string {
    return this.#serviceName.replace(/^./, (letter) => letter.toUpperCase())
  }
}
