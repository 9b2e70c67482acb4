/// Collects the errors and warnings of one document with their places.
final class ErrorList {
  /// The document.
  let text: DocumentText
  private var errors: [(offset: Int, error: ModelError)] = []
  private var warnings: [(offset: Int, error: ModelError)] = []
  private var comparisons = 0

  /// Makes an empty list.
  init(text: DocumentText) {
    self.text = text
  }

  /// Whether a wrong name may be compared with so many others: a document has a limited number of
  /// comparisons, which only hostile ones use up.
  func mayCompare(_ count: Int) -> Bool {
    comparisons += count
    return comparisons <= ModelLimits.comparisons
  }

  /// Adds an error, or a warning; of each no more than there may be, so that neither hides the other.
  ///
  /// The place is the value of `attribute` where it is given and there, else the tag.
  func add(
    _ error: ModelError, at element: DocumentElement, attribute: String? = nil
  ) {
    guard (error.isWarning ? warnings : errors).count < ModelLimits.errors else { return }
    let offset =
      attribute.map { text.valueOffset(of: $0, inTagAt: element.offset) } ?? element.offset
    var error = error
    let place = text.place(of: offset)
    error.file = text.file
    error.line = place.line
    error.column = place.column
    if error.isWarning {
      warnings.append((offset, error))
    } else {
      errors.append((offset, error))
    }
  }

  /// Whether an error about the same property is there, or the same error.
  func covers(_ error: ModelError) -> Bool {
    (errors + warnings).contains { $0.error.covers(error) }
  }

  /// Whether the model cannot be used.
  var hasErrors: Bool { !errors.isEmpty }

  /// The errors and warnings in the order of the document.
  var sorted: [ModelError] {
    (errors + warnings).sorted { $0.offset < $1.offset }.map(\.error)
  }
}
