extension Machine {
    /// Puts the fields that programs over plain numbers name into their registers.
    @inline(__always)
    func bindFields(of feature: ArcadeFeature) {
        if boundSchema !== feature.schema { findNumberFields(of: feature.schema) }
        for index in 0..<numberFieldCount {
            let (register, place) = numberFields[index]
            var number = NumberProgram.nothing
            if place >= 0, place < feature.values.count, case .number(let found) = feature.values[place] {
                number = found.bitPattern == NumberProgram.nothing.bitPattern ? .nan : found
            }
            registers[register] = number
        }
    }

    /// Finds the places of the fields, for the features of a schema.
    @inline(never)
    private func findNumberFields(of schema: ArcadeSchema) {
        boundSchema = schema
        var count = 0
        for (index, shared) in script.sharedRegisters.enumerated() {
            guard case .field(let name) = shared else { continue }
            let place = schema.place(of: name) ?? -1
            let isNumber = place >= 0 && FieldTypes.isNumber(schema.fields[place].type)
            numberFields[count] = (register: -1 - index, place: isNumber ? place : -1)
            count += 1
        }
    }

    /// Finds the places of all fields that the script names, for the features of a schema.
    func findFields(of schema: ArcadeSchema) {
        fieldSchema = schema
        for (site, name) in script.fieldSites.enumerated() { fieldPlaces[site] = schema.place(of: name) ?? -1 }
    }

    /// Registers with the constants of a script; its fields hold no numbers yet.
    static func registers(of script: CompiledScript) -> UnsafeMutablePointer<Double> {
        let shared = script.sharedRegisters.count
        let made = UnsafeMutablePointer<Double>.allocate(capacity: shared + script.registerCount + 1)
        made.initialize(repeating: 0, count: shared + script.registerCount + 1)
        let registers = made + shared
        for (index, register) in script.sharedRegisters.enumerated() {
            switch register {
            case .constant(let number): registers[-1 - index] = number
            case .field: registers[-1 - index] = NumberProgram.nothing
            }
        }
        return registers
    }
}
