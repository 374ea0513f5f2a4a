/** The columns, by the names that clients use for the orders. */
export const orderColumns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'created_at_ms',
  updated_at: 'last_activity_at_ms',
  last_activity_at: 'last_activity_at_ms',
} as const

const projectOrders = Object.keys(orderColumns) as [keyof typeof orderColumns]

/** Orders by stored bytes, for administrators. Packages store none. */
export const sizeOrders = ['repository_size', 'storage_size', 'packages_size', 'wiki_size'] as const

/** `similarity` orders by the similarity to the search text. */
export const restProjectOrders = [...projectOrders, 'star_count', 'similarity', ...sizeOrders] as const
export type RestProjectOrder = (typeof restProjectOrders)[number]

export const projectListingOrders = [...projectOrders, 'full_path', 'star_count', 'similarity', 'storage_size'] as const

export interface ProjectListingOrder {
  /** `similarity` orders by the similarity to the search text. `storage_size` is accepted, but orders by id. */
  readonly by: (typeof projectListingOrders)[number]
  readonly direction: 'asc' | 'desc'
}
