/// The formula of a derived attribute, read from an archived expression as text.
struct ArchivedExpression {
  private static let maximumDepth = 16
  private let archive: KeyedArchive

  /// The formula; empty when the archive has it in a form that is not known.
  private(set) var text = ""

  /// Reads an archived expression, or looks for one among the values of an archived attribute.
  init(in object: KeyedArchive.Object, _ archive: KeyedArchive) {
    self.archive = archive
    if object.className.hasSuffix("Expression") {
      text = self.text(of: object, depth: 0) ?? ""
      return
    }
    for key in object.fields.keys.sorted() {
      guard let expression = archive.object(object.fields[key]),
        expression.className.hasSuffix("Expression"), let found = text(of: expression, depth: 0)
      else { continue }
      text = found
      return
    }
  }

  /// The text of an expression; nil for the object itself and for unknown forms.
  private func text(of object: KeyedArchive.Object, depth: Int) -> String? {
    guard depth < Self.maximumDepth else { return nil }
    let fields = object.fields
    if let path = archive.string(fields["NSKeyPath"]) { return path }
    if let variable = archive.string(fields["NSVariable"]) { return "$\(variable)" }
    if let selector = archive.string(fields["NSSelectorName"]) {
      let operand = archive.object(fields["NSOperand"]).flatMap { text(of: $0, depth: depth + 1) }
      let arguments = archive.list(fields["NSArguments"]).compactMap { argument in
        archive.object(argument).flatMap { text(of: $0, depth: depth + 1) }
      }
      if selector.hasPrefix("valueForKey") {
        return ([operand].compactMap { $0 } + arguments).joined(separator: ".")
      }
      return "\(selector)(\(arguments.joined(separator: ", ")))"
    }
    return archive.anyValue(fields["NSConstantValue"]).map { "\($0)" }
  }
}
