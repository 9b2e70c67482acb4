/// One thing that is wrong with a store.
package struct DoctorFinding: Sendable, Equatable {
  /// Which rule found it.
  package var rule: DoctorRuleName
  /// The entity it is about; nil when it is about the file.
  package var entity: String?
  /// The property it is about.
  package var property: String?
  /// The table it was seen in.
  package var table: String?
  /// How many rows, files or indexes are concerned.
  package var count: Int
  /// Some of them: object URIs, names of files, SQLite's own words.
  package var examples: [String]
  /// What is wrong, in a sentence without a full stop.
  package var message: String
  /// What to do now, in a sentence without a full stop.
  package var nextStep: String

  init(
    _ rule: DoctorRuleName, entity: String? = nil, property: String? = nil, table: String? = nil,
    count: Int = 1, examples: [String] = [], _ message: String, nextStep: String
  ) {
    self.rule = rule
    self.entity = entity
    self.property = property
    self.table = table
    self.count = count
    self.examples = Array(examples.prefix(DoctorFinding.exampleLimit))
    self.message = message
    self.nextStep = nextStep
  }

  private static let exampleLimit = 5
}
