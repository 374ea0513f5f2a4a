import { DirectiveLocation, GraphQLDirective, GraphQLNonNull, GraphQLString, specifiedDirectives } from 'graphql'

/** The directives of the schema. */
export const directives: readonly GraphQLDirective[] = [
  ...specifiedDirectives,
  new GraphQLDirective({
    name: 'gl_introduced',
    description:
      'Names the version of GitLab with which a field began. It has no effect: a field of this schema can be selected',
    locations: [DirectiveLocation.FIELD],
    args: { version: { type: new GraphQLNonNull(GraphQLString) } },
  }),
]
