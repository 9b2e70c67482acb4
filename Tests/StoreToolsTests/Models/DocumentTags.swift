/// Builds the elements of a model document.
enum DocumentTags {
  static func entity(_ name: String, _ contents: String, _ attributes: String = "") -> String {
    #"<entity name="\#(name)" representedClassName="\#(name)" \#(attributes)>\#(contents)</entity>"#
  }

  static func attribute(
    _ name: String, _ type: String = "String", _ attributes: String = ""
  ) -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="\#(type)" \#(attributes)/>"#
  }

  static func relationship(
    _ name: String, _ destination: String, _ inverse: String? = nil,
    _ attributes: String = #"maxCount="1""#
  ) -> String {
    let back = inverse.map { #"inverseName="\#($0)" inverseEntity="\#(destination)""# } ?? ""
    return #"<relationship name="\#(name)" optional="YES" destinationEntity="\#(destination)" "#
      + #"\#(back) deletionRule="Nullify" \#(attributes)/>"#
  }

  static func index(_ name: String, _ property: String, _ attributes: String = "") -> String {
    #"<fetchIndex name="\#(name)" \#(attributes)><fetchIndexElement property="\#(property)"/></fetchIndex>"#
  }

  static func constraint(_ names: String...) -> String {
    let parts = names.map { #"<constraint value="\#($0)"/>"# }.joined()
    return "<uniquenessConstraints><uniquenessConstraint>\(parts)</uniquenessConstraint>"
      + "</uniquenessConstraints>"
  }
}
