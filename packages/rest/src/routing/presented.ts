import type { Operation } from '@penstock/core'
import type { z } from 'zod'

/**
 * Returns the operation with further parameters that only change how its result is shown. They are validated together with
 * those of the operation.
 *
 * @param show returns what the shape gets, from the result and the parameters
 */
export function presented<Input extends z.ZodRawShape, Added extends z.ZodRawShape, Result, Shown>(
  operation: Operation<z.ZodObject<Input>, Result>,
  added: Added,
  show: (result: Result, parameters: z.output<z.ZodObject<Added>>) => Shown,
): Operation<z.ZodObject<Input & Added>, Shown> {
  const { work } = operation
  // The kinds of work differ in their contexts, which are passed on as they are.
  const run = async (context: never, input: never) => show(await work.run(context, input), input)
  // TypeScript does not join the kinds of work again.
  return { ...operation, input: operation.input.extend(added), work: { ...work, run } } as never
}

/** An item of a list of which a caller can ask for the short form. */
export type Listed<Item> = Item & { readonly isSimple?: true }

/** Marks the items of a page to be shown in their short form. */
export const inShortForm = <Result extends { readonly items: readonly object[] }>(page: Result): Result => ({
  ...page,
  items: page.items.map((item) => ({ ...item, isSimple: true })),
})
