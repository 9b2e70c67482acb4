import CFloor
import Foundation

/// The values of moods as C structs.
final class FloorRows {
  let rows: UnsafeMutablePointer<cfloor_mood>
  let count: Int

  init(_ values: [MoodValues]) {
    count = values.count
    rows = .allocate(capacity: max(count, 1))
    for (index, value) in values.enumerated() {
      rows[index] = cfloor_mood(
        key: Int64(index + 1), version: 1, rank: value.rank, stamp: value.stamp, country: 0,
        votes: value.votes, flags: value.flags, kind: Int32(value.kind), latitude: value.latitude,
        longitude: value.longitude, name: strdup(value.name), note: strdup(value.note))
    }
  }

  deinit {
    for index in 0..<count {
      free(rows[index].name)
      free(rows[index].note)
    }
    rows.deallocate()
  }
}
