// Values of rows as documents have them.

extension RowSlot.Kind {
  /// What a document calls the type of a value.
  var documentType: String {
    switch self {
    case .int16: "int16"
    case .int32: "int32"
    case .int64: "int64"
    case .bool: "bool"
    case .double: "double"
    case .float: "float"
    case .date: "date"
    case .string: "string"
    case .uri: "uri"
    case .decimal: "decimal"
    case .uuid: "uuid"
    case .data, .external: "binary"
    case .transformable: "transformable"
    case .toOne, .toOnePolymorphic: "relationship"
    }
  }

  /// A document's value in the raw form of a row of this kind; nil where it is of another kind.
  ///
  /// A text, which is all that XML has, is read as what it should be.
  func stored(_ value: RowValue) -> RowValue? {
    switch (self, value) {
    case (.int16, .int64), (.int32, .int64), (.int64, .int64), (.bool, .int64),
      (.double, .double), (.float, .double), (.date, .double),
      (.string, .text), (.uri, .text), (.decimal, .text),
      (.data, .bytes), (.uuid, .bytes), (.transformable, .bytes):
      value
    case (.external, .bytes(let data)): .bytes(ExternalStorage.inRow(data))
    case (.int16, .text(let text)), (.int32, .text(let text)), (.int64, .text(let text)),
      (.bool, .text(let text)):
      Int64(text).map { .int64($0) }
    case (.double, .text(let text)), (.float, .text(let text)), (.date, .text(let text)):
      Double(text).map { .double($0) }
    case (.uuid, .text(let text)):
      UUID(uuidString: text).map { uuid in withUnsafeBytes(of: uuid.uuid) { .bytes(Data($0)) } }
        ?? bytes(text)
    case (.data, .text(let text)), (.external, .text(let text)), (.transformable, .text(let text)):
      bytes(text)
    default: nil
    }
  }

  private func bytes(_ text: String) -> RowValue? {
    Data(base64Encoded: text, options: .ignoreUnknownCharacters)
      .flatMap { stored(.bytes($0)) }
  }
}

extension Row {
  /// A value in raw form, without the mark of where it is kept.
  func contents(_ slot: RowSlot) -> RowValue {
    guard slot.kind == .external, !isNull(slot) else { return rawValue(slot) }
    let bytes = Data(bytes(slot))
    return .bytes(ExternalStorage.contents(bytes) as? Data ?? bytes)
  }
}
