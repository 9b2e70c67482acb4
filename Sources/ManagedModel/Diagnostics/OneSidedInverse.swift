/// A relationship whose inverse does not lead back to it.
///
/// Documents that were merged by hand have such. Nothing could keep the two sides in step, so the
/// relationship is used as one without an inverse.
struct OneSidedInverse {
  /// The relationship, which has no inverse any more.
  let relationship: NSRelationshipDescription
  /// What is wrong, as one sentence.
  let message: String
  /// What to do about it, as one sentence.
  let nextStep: String

  /// Takes the inverses away that do not lead back; their names stay in `unreadTexts`.
  ///
  /// - Returns: What was taken away, in the order given.
  static func takeAway(from relationships: [NSRelationshipDescription]) -> [OneSidedInverse] {
    let found = relationships.compactMap { relationship -> OneSidedInverse? in
      guard let inverse = relationship.inverseRelationship,
        inverse.inverseRelationship !== relationship
      else { return nil }
      return OneSidedInverse(relationship, inverse)
    }
    for oneSided in found {
      let relationship = oneSided.relationship
      relationship.unreadTexts["inverseName"] = relationship.inverseRelationship?.name
      relationship.unreadTexts["inverseEntity"] = relationship.inverseRelationship?.entity?.name
      relationship.inverseRelationship = nil
    }
    return found
  }

  /// Puts it into words.
  init(_ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription) {
    self.relationship = relationship
    let back = inverse.inverseRelationship.map { "\($0)" } ?? "nothing"
    message = "The inverse \(inverse) has \(back) as its own inverse."
    nextStep = "Set the inverse of \(inverse) to \(relationship)."
  }
}
