/// Finds which thing of a later model was which of an earlier one.
enum RenamingMatch {
  /// The pairs, in the order of the later ones: by renaming identifier, else by name.
  static func pairs<Member: AnyObject>(
    _ old: [Member], _ new: [Member], name: (Member) -> String, identifier: (Member) -> String?
  ) -> [(old: Member, new: Member)] {
    var byName: [String: Member] = [:]
    var byIdentifier: [String: Member] = [:]
    for member in old {
      byName[name(member)] = byName[name(member)] ?? member
      if let identifier = identifier(member), byIdentifier[identifier] == nil {
        byIdentifier[identifier] = member
      }
    }
    var used: Set<ObjectIdentifier> = []
    var found: [ObjectIdentifier: Member] = [:]
    func take(_ candidate: (Member) -> Member?) {
      for member in new where found[ObjectIdentifier(member)] == nil {
        guard let former = candidate(member), used.insert(ObjectIdentifier(former)).inserted else {
          continue
        }
        found[ObjectIdentifier(member)] = former
      }
    }
    take { member in
      guard let identifier = identifier(member), identifier != name(member) else { return nil }
      return byIdentifier[identifier] ?? byName[identifier]
    }
    take { byName[name($0)] }
    take { member in identifier(member).flatMap { byIdentifier[$0] } }
    return new.compactMap { member in
      found[ObjectIdentifier(member)].map { (old: $0, new: member) }
    }
  }
}
