import type { InputFieldMap, InputShapeFromFields } from '@pothos/core'
import { GraphQLError } from 'graphql'
import { notAvailable, payloadErrors } from '../request/failure.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Kit } from './kit.ts'
import { requireSupported } from './refused-arguments.ts'
import type { FieldsOf, Types } from './schema-types.ts'

interface MutationOptions<Fields extends InputFieldMap, Result extends object> {
  readonly description?: string
  readonly input: (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => Fields
  /** Makes the change. `errors` in the result are the reasons why it was not made. */
  run(
    input: InputShapeFromFields<Fields>,
    context: RequestContext,
  ): Promise<Result & { readonly errors?: readonly string[] }>
  /** Returns the fields of the payload besides `errors`. All of them are null after a failure. */
  readonly payload: (
    t: FieldsOf<PayloadSource<Result>>,
  ) => Record<string, ReturnType<FieldsOf<PayloadSource<Result>>['field']>>
}

export type PayloadSource<Result extends object> = Partial<Result> & {
  readonly clientMutationId: string | null | undefined
  readonly errors: readonly string[]
}

/** Adds a field to `Mutation`, with its types `<Name>Input` and `<Name>Payload`. */
export function mutation<Fields extends InputFieldMap, Result extends object>(
  { builder }: Kit,
  name: string,
  { description, input: fields, payload, run }: MutationOptions<Fields, Result>,
): void {
  const typeName = name.replace(/^./, (letter) => letter.toUpperCase())
  const input = builder.inputType(`${typeName}Input`, {
    fields: (t) => ({ clientMutationId: t.string(), ...fields(t) }) as never,
  })
  const payloadType = builder.objectRef<PayloadSource<Result>>(`${typeName}Payload`).implement({
    fields: (t) =>
      ({
        clientMutationId: t.string({ resolve: ({ clientMutationId }) => clientMutationId }),
        errors: t.stringList({ nullable: false, resolve: (source) => [...source.errors] }),
        ...payload(t as never),
      }) as never,
  })
  builder.mutationField(name, (t) =>
    t.field({
      type: payloadType as never,
      ...(description !== undefined && { description }),
      args: { input: t.arg({ type: input as never, required: true }) },
      resolve: async (_, args, context, info) => {
        const { clientMutationId, ...values } = args.input as { clientMutationId?: string | null }
        if (!context.mayWrite) throw notAvailable()
        try {
          requireSupported(info.parentType.getFields()[info.fieldName]!.args, args)
          const result = await run(values as never, context)
          context.loaders.clear()
          return { errors: [], ...result, clientMutationId } as never
        } catch (error) {
          if (error instanceof GraphQLError) throw error
          return { clientMutationId, errors: payloadErrors(error) } as never
        }
      },
    }),
  )
}
