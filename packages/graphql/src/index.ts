export { type ExplorerOptions, explorerRoutes } from './explorer.ts'
export { type GraphqlOptions, type GraphqlRoute, graphqlRoutes } from './graphql-routes.ts'
export { printedSchema } from './printed-schema.ts'
export { createSchema } from './schema.ts'
