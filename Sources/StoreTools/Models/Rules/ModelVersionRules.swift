import OpenCoreData
import WorkbenchText

/// Finds removed entities and properties that are probably renamed, but have no renaming
/// identifier.
struct MissingRenamingIdentifierRule: ModelRule {
  static let name = "missing-renaming-identifier"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    (checked.change?.comparison.suspectedRenames ?? []).map { rename in
      let lost = rename.entity == nil ? "its objects" : "its values"
      return finding(
        "\(rename.added) is new and \(rename.removed) is removed, so migration deletes \(lost).",
        rename.advice, checked.model.entitiesByName[rename.entity ?? rename.added],
        rename.entity == nil ? nil : rename.added)
    }
  }
}

/// Finds attributes that became required and have no default value for existing rows.
struct RequiredWithoutDefaultRule: ModelRule {
  static let name = "required-without-default"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.newlyStored(.attribute).compactMap { name, entity in
      guard let attribute = entity.attributesByName[name],
        !attribute.isOptional, !attribute.isTransient, !attribute.isDerived,
        !attribute.hasDefaultValue
      else { return nil }
      return finding(
        "The attribute is required now, and has no default value: migration fails if a row has no value.",
        "Give it a default value, or make it optional.", entity, attribute.name)
    }
  }
}

/// Finds to-one relationships that became required, which existing objects don't have.
struct RequiredRelationshipRule: ModelRule {
  static let name = "required-relationship"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.newlyStored(.relationship).compactMap { name, entity in
      guard let relationship = entity.relationshipsByName[name],
        !relationship.isOptional, !relationship.isTransient, !relationship.isToMany
      else { return nil }
      return finding(
        "The to-one relationship is required now: migration fails if an object has no destination.",
        "Make it optional, set it in code, and make it required in a later version.", entity,
        relationship.name)
    }
  }
}

/// Finds indexes that existing stores don't get because no version hash changes.
struct UnmigratedIndexRule: ModelRule {
  static let name = "index-without-modifier"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    guard checked.change?.comparison.effect == MigrationEffect.none else { return [] }
    return checked.changes(of: .index).compactMap { difference, entity in
      guard difference.kind != .removed else { return nil }
      let name = difference.name ?? ""
      return finding(
        "The index \(name) is \(difference.kind.rawValue), but all version hashes are equal, so "
          + "existing stores open without a migration and don't get it.",
        "Set the version hash modifier of \(entity) to a new value.", entity, name)
    }
  }
}

/// Finds derivations that existing stores don't get because no version hash changes.
struct UnmigratedDerivationRule: ModelRule {
  static let name = "derivation-without-modifier"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    guard checked.change?.comparison.effect == MigrationEffect.none else { return [] }
    return checked.changes(of: .attribute).compactMap { difference, entity in
      guard difference.isOfDerivation, let detail = difference.detail else { return nil }
      let isNew = detail.hasPrefix("derivation from none to ")
      return finding(
        "The \(detail) changes no version hash, so existing stores open without a migration and "
          + (isNew ? "don't compute the values." : "still compute the values as before."),
        "Set the version hash modifier of the attribute to a new value.", entity, difference.name)
    }
  }
}

/// Finds versions that were changed after stores were created with them.
struct EditedVersionRule: ModelRule {
  static let name = "edited-version"

  private static let shown = 5

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    (checked.change?.edits ?? []).map { edit in
      let names = edit.entities.prefix(Self.shown).joined(separator: ", ")
      let rest = edit.entities.count - Self.shown
      return finding(
        "The version \(edit.version) was edited after it shipped: the version hashes of \(names)"
          + (rest > 0 ? " and \(rest) more" : "") + " differ, so no version matches existing "
          + "stores.",
        "Restore it, and make the change in a new version.",
        edit.entities.count == 1 ? checked.model.entitiesByName[edit.entities[0]] : nil)
    }
  }
}

/// Finds uniqueness constraints that existing rows can violate.
struct NewConstraintRule: ModelRule {
  static let name = "new-constraint"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.changes(of: .constraint).compactMap { difference, entity in
      guard difference.kind == .added, let names = difference.name else { return nil }
      return finding(
        "\(names) must be unique now: migration fails if objects have the same values.",
        "Merge duplicates in a version without the constraint, and add it in the next one.", entity)
    }
  }
}

/// Finds transformable attributes whose stored bytes another transformer reads.
struct TransformerChangeRule: ModelRule {
  static let name = "transformer-change"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.changes(of: .attribute).compactMap { difference, entity in
      guard difference.detail?.hasPrefix("transformer ") == true else { return nil }
      return finding(
        "The \(difference.detail ?? "") changes how stored values are read, but not the values.",
        "Add an attribute with the new transformer and another name, and convert the values in code.",
        entity, difference.name)
    }
  }
}

/// Finds attributes whose external storage is turned on or off.
struct ExternalStorageChangeRule: ModelRule {
  static let name = "external-storage-change"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.changes(of: .attribute).compactMap { difference, entity in
      guard let detail = difference.detail, detail.hasPrefix("external storage ") else {
        return nil
      }
      let isOn = detail.hasSuffix("on")
      return finding(
        isOn
          ? "External storage is turned on, but values that are stored stay in their rows."
          : "External storage is turned off, but values can be in external data files.",
        isOn
          ? "Set the values again in code if rows must get smaller."
          : "Add an attribute without external storage and another name, and copy the values in code.",
        entity, difference.name)
    }
  }
}

extension CheckedModel {
  /// Returns the differences of a kind of members from the earlier version, with their entities.
  fileprivate func changes(
    of subject: ModelDifference.Subject
  ) -> [(ModelDifference, NSEntityDescription)] {
    (change?.comparison.differences ?? []).compactMap { difference in
      guard difference.subject == subject,
        let entity = difference.entity.flatMap({ model.entitiesByName[$0] })
      else { return nil }
      return (difference, entity)
    }
  }

  /// Returns the properties that were added, became required, or weren't stored before, each once,
  /// with their entities.
  fileprivate func newlyStored(
    _ subject: ModelDifference.Subject
  ) -> [(name: String, entity: NSEntityDescription)] {
    var seen: Set<String> = []
    return changes(of: subject).compactMap { difference, entity in
      let isNew =
        difference.kind == .added || difference.detail == "required now"
        || difference.detail == "stored now"
      guard isNew, let name = difference.name, seen.insert(difference.path).inserted else {
        return nil
      }
      return (name, entity)
    }
  }
}
