#if Workbench
  import OpenCoreData
  import Recording

  /// The cost of recording events, measured with faults fulfilled from the store.
  struct RecordingWorkloads {
    let bed: Bed

    func events() -> Workload {
      workload("recording events", limit: 1.3, stacks: false)
    }

    func stacks() -> Workload {
      workload("recording with stacks", limit: 1.6, stacks: true)
    }

    private func workload(_ name: String, limit: Double, stacks: Bool) -> Workload {
      let count = min(20_000, bed.rows)
      let positions = bed.shuffledPositions(count)
      let request = Bed.allMoods()
      request.includesPropertyValues = false
      return Workload(
        name: name, unit: "fault", operations: count, limit: limit,
        arms: [
          Arm(program: .unheard) { [bed] in try FaultWorkloads.fire(positions, request, bed) },
          Arm(program: .ours) { [bed] in
            let counter = EventCounter(bed.stack.coordinator, stacks: stacks)
            let time = try FaultWorkloads.fire(positions, request, bed)
            guard counter.stop() >= 2 * count else { throw BenchError("events are missing") }
            return time
          },
        ],
        note:
          "Faults from the database, compared with no event sink. The sink is the workbench's recorder."
      )
    }
  }
#endif
