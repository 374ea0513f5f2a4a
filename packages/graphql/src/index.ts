export { type GraphqlOptions, type GraphqlRoute, graphqlRoutes } from './graphql-routes.ts'
export { createSchema } from './schema.ts'
