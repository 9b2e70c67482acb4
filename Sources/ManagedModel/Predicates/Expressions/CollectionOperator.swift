/// The operators on collections that a key path may contain.
package enum CollectionOperator: String, Sendable, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case min = "@min"
  case max = "@max"
  case average = "@avg"
  case unionOfObjects = "@unionOfObjects"
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  case unionOfArrays = "@unionOfArrays"
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  case unionOfSets = "@unionOfSets"
  case distinctUnionOfSets = "@distinctUnionOfSets"
}
