/// Tags of a model document, written shortly.
enum DocumentTags {
  static func entity(_ name: String, _ inside: String, _ more: String = "") -> String {
    #"<entity name="\#(name)" representedClassName="\#(name)" \#(more)>\#(inside)</entity>"#
  }

  static func attribute(
    _ name: String, _ type: String = "String", _ more: String = ""
  ) -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="\#(type)" \#(more)/>"#
  }

  static func relationship(
    _ name: String, _ destination: String, _ inverse: String? = nil,
    _ more: String = #"maxCount="1""#
  ) -> String {
    let back = inverse.map { #"inverseName="\#($0)" inverseEntity="\#(destination)""# } ?? ""
    return #"<relationship name="\#(name)" optional="YES" destinationEntity="\#(destination)" "#
      + #"\#(back) deletionRule="Nullify" \#(more)/>"#
  }

  static func index(_ name: String, _ property: String, _ more: String = "") -> String {
    #"<fetchIndex name="\#(name)" \#(more)><fetchIndexElement property="\#(property)"/></fetchIndex>"#
  }

  static func constraint(_ names: String...) -> String {
    let parts = names.map { #"<constraint value="\#($0)"/>"# }.joined()
    return "<uniquenessConstraints><uniquenessConstraint>\(parts)</uniquenessConstraint>"
      + "</uniquenessConstraints>"
  }
}
