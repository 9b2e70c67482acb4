extension ModelBuilder {
  /// A derived attribute with its expression.
  func derived(_ reader: ElementReader) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    guard let text = reader.wanted("derivationExpression") else { return attribute }
    attribute.derivationExpression = expression(text, reader, at: "derivationExpression")
    return attribute
  }

  /// An expression that an attribute of a tag gives; one that cannot be read is warned of.
  func expression(_ text: String, _ reader: ElementReader, at key: String) -> NSExpression? {
    do {
      return try NSExpression.parse(text, arguments: [])
    } catch {
      reader.warn(
        "The expression \"\(text)\" cannot be read: \(error.message) (character \(error.column)).",
        error.suggestion.map { "Did you mean \($0)?" } ?? "Write a whole expression.", at: key)
      return nil
    }
  }

  /// A composite attribute with its elements.
  ///
  /// The elements stand inside the tag, or inside a `composite` of the document that an attribute
  /// of the tag names.
  func composite(_ reader: ElementReader) -> NSCompositeAttributeDescription {
    let attribute = NSCompositeAttributeDescription()
    let home =
      Self.elements(in: reader.element).isEmpty ? declaration(for: reader) : reader.element
    guard let home else { return attribute }
    guard openComposites.count < ModelLimits.compositeDepth,
      openComposites.insert(ObjectIdentifier(home)).inserted
    else {
      reader.report(
        "The composite attribute contains itself, or composites more than "
          + "\(ModelLimits.compositeDepth) deep.", "Take one of the elements away.", at: "name")
      return attribute
    }
    defer { openComposites.remove(ObjectIdentifier(home)) }
    var names: Set<String> = []
    for child in Self.elements(in: home) {
      guard compositeElements < ModelLimits.compositeElements else {
        reader.report(
          "The model has more than \(ModelLimits.compositeElements) elements of composites.", nil)
        break
      }
      compositeElements += 1
      let inner = ElementReader(
        element: child, entity: reader.entity, property: reader.property, errors: errors)
      guard let name = inner.wanted("name") else { continue }
      guard names.insert(name).inserted else {
        inner.warn(
          "There are two elements named \(name).", "Rename one of them.", at: "name")
        continue
      }
      let element = self.attribute(inner)
      read(element, named: name, inner)
      attribute.elements.append(element)
    }
    return attribute
  }

  /// The tags of the elements inside a tag.
  private static func elements(in home: DocumentElement) -> [DocumentElement] {
    home.children.filter {
      ["attribute", "composite", "compositeAttribute", "compositeElement"].contains($0.name)
    }
  }

  private func declaration(for reader: ElementReader) -> DocumentElement? {
    let names = Set(reader.element.attributes.filter { $0.key != "name" }.values)
    return composites.first { names.contains($0.attributes["name"] ?? "") }
  }
}
