/// Collects the errors of one document with their places.
final class ErrorList {
  /// The document.
  let text: DocumentText
  private var errors: [(offset: Int, error: ModelError)] = []

  /// Makes an empty list.
  init(text: DocumentText) {
    self.text = text
  }

  /// Whether there are so many errors that no more are added.
  var isFull: Bool { errors.count >= ModelLimits.errors }

  /// Adds an error.
  ///
  /// The place is the value of `attribute` where it is given and there, else the tag.
  func add(
    _ error: ModelError, at element: DocumentElement, attribute: String? = nil
  ) {
    guard !isFull else { return }
    let offset =
      attribute.map { text.valueOffset(of: $0, inTagAt: element.offset) } ?? element.offset
    var error = error
    let place = text.place(of: offset)
    error.file = text.file
    error.line = place.line
    error.column = place.column
    errors.append((offset, error))
  }

  /// Whether an error about the same property is there, or the same error.
  func covers(_ error: ModelError) -> Bool {
    errors.contains { known in
      known.error.entity == error.entity && known.error.property == error.property
        && (error.property != nil || known.error.message == error.message)
    }
  }

  /// The errors in the order of the document, or nil for none.
  var sorted: ModelErrors? {
    errors.isEmpty
      ? nil : ModelErrors(errors.sorted { $0.offset < $1.offset }.map(\.error))
  }
}
