import ManagedModel

/// Changes saved elsewhere, with the identities of one coordinator's contexts.
struct MergedChanges: Sendable {
  var inserted: [FetchedIdentity] = []
  var updated: [FetchedIdentity] = []
  var deleted: [FetchedIdentity] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  var all: [FetchedIdentity] {
    inserted + updated + deleted
  }

  /// The entity with the most objects; the first by name among several.
  var mostFrequentEntity: String? {
    let counts = all.reduce(into: [String: Int]()) { counts, identity in
      counts[identity.layout.entity.name ?? "", default: 0] += 1
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  /// Returns the changes in the store at an index.
  func of(_ place: Int) -> MergedChanges {
    func here(_ identities: [FetchedIdentity]) -> [FetchedIdentity] {
      identities.filter { $0.layout.place == place }
    }
    return MergedChanges(
      inserted: here(inserted), updated: here(updated), deleted: here(deleted))
  }
}
