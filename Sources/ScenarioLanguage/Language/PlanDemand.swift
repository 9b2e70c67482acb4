import OpenCoreData
import WorkbenchText

/// What a query plan must be: `uses byDate`, `avoids scan`, `avoids temp b-tree`.
package enum PlanDemand: Sendable, Hashable, CustomStringConvertible {
  /// Some table is read through the index of this name, which is a fetch index's or SQL's own.
  case uses(String)
  /// Some table is searched by its primary key.
  case usesPrimaryKey
  /// SQLite makes an index for the statement alone.
  case usesAutomaticIndex
  /// No stored table or index is read as a whole.
  case avoidsScan
  /// Nothing is sorted or told apart outside an index.
  case avoidsTempBTree

  /// The forms there are, for errors and the documentation.
  static let forms = [
    "uses NAME", "uses primary key", "uses automatic index", "avoids scan", "avoids temp b-tree",
  ]

  /// Reads a demand.
  ///
  /// - Throws: a problem at the text when it is none.
  init(_ word: Word) throws(LanguageProblem) {
    let words = word.text.split(separator: " ").map(String.init)
    switch (words.first, words.dropFirst().joined(separator: " ")) {
    case ("uses", "primary key"): self = .usesPrimaryKey
    case ("uses", "automatic index"): self = .usesAutomaticIndex
    case ("uses", let name) where words.count == 2: self = .uses(name)
    case ("avoids", "scan"): self = .avoidsScan
    case ("avoids", "temp b-tree"): self = .avoidsTempBTree
    default:
      throw LanguageProblem(
        "`\(word.text)` says nothing of a plan", at: word.place,
        didYouMean: NearestName.of(word.text, among: PlanDemand.forms),
        nextStep: "write one of: \(PlanDemand.forms.joined(separator: ", "))")
    }
  }

  package var description: String {
    switch self {
    case .uses(let name): "uses \(name)"
    case .usesPrimaryKey: "uses primary key"
    case .usesAutomaticIndex: "uses automatic index"
    case .avoidsScan: "avoids scan"
    case .avoidsTempBTree: "avoids temp b-tree"
    }
  }
}
