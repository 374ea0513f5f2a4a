import type { InputFieldMap, InputShapeFromFields } from '@pothos/core'
import { GraphQLError, type GraphQLResolveInfo } from 'graphql'
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

type InputArgs<Fields extends InputFieldMap> = {
  readonly input: InputShapeFromFields<Fields> & { readonly clientMutationId?: string | null }
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
    fields: (t) => ({ clientMutationId: t.string(), ...fields(t) }),
  })
  const payloadType = builder.objectRef<PayloadSource<Result>>(`${typeName}Payload`).implement({
    fields: (t) => ({
      clientMutationId: t.string({ resolve: ({ clientMutationId }) => clientMutationId }),
      errors: t.stringList({ nullable: false, resolve: (source) => [...source.errors] }),
      ...payload(t),
    }),
  })
  builder.mutationField(name, (t) => {
    const options = {
      type: payloadType,
      ...(description !== undefined && { description }),
      args: { input: t.arg({ type: input, required: true }) },
      resolve: async (_: unknown, args: InputArgs<Fields>, context: RequestContext, info: GraphQLResolveInfo) => {
        const { clientMutationId, ...values } = args.input
        if (!context.mayWrite) throw notAvailable()
        try {
          requireSupported(info.parentType.getFields()[info.fieldName]!.args, args)
          const result = await run(values as InputShapeFromFields<Fields>, context)
          context.loaders.clear()
          return { errors: [], ...result, clientMutationId }
        } catch (error) {
          if (error instanceof GraphQLError) throw error
          return { clientMutationId, errors: payloadErrors(error) }
        }
      },
    }
    // Pothos cannot compute the type of arguments and results that depend on type parameters.
    return t.field(options as never)
  })
}
