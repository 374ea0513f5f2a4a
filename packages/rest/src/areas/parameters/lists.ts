import type { RouteParameters } from '../../routing/route.ts'

const oneOrder = 'the list has one order; clients name this for every list'

/** A list with a cursor. `page_token` is the parameter of other lists, which continue after a name. */
export const cursorList = {
  noEffect: { page_token: 'the list continues after a cursor; clients name this for every list' },
} satisfies RouteParameters

/** A list with numbered pages only. */
export const pagedList = {
  noEffect: { ...cursorList.noEffect, pagination: 'the list has numbered pages; clients follow its links' },
} satisfies RouteParameters

/** A list with orders of its own, of which `sort` selects one. */
export const sortedList = {
  noEffect: { ...pagedList.noEffect, order_by: 'the order follows `sort`' },
} satisfies RouteParameters

/** A list with numbered pages and one order. */
export const orderedList = {
  noEffect: { ...pagedList.noEffect, order_by: oneOrder, sort: oneOrder },
} satisfies RouteParameters

/** A list that is returned as a whole. */
export const pageOfAll = {
  noEffect: { page: 'the list is complete', per_page: 'the list is complete' },
} satisfies RouteParameters

/** A list that is returned as a whole, for clients that send an order with every list. */
export const wholeList = { noEffect: { ...orderedList.noEffect, ...pageOfAll.noEffect } } satisfies RouteParameters
