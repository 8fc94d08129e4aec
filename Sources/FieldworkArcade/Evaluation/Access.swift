/// Members and elements of values.
enum Access {
    static func member(_ owner: Value, _ name: String, _ machine: Machine) throws -> Value {
        switch owner {
        case .feature(let feature):
            guard let value = feature.value(of: name, machine) else {
                throw ArcadeError.runtime("The feature has no field “\(name)”.")
            }
            return value
        case .dictionary(let dictionary):
            guard let value = dictionary[name] else {
                throw ArcadeError.runtime("The dictionary has no key “\(name)”: ask with HasKey first.")
            }
            return value
        case .geometry(let geometry):
            guard let value = try GeometryMembers.value(geometry, name, machine) else {
                throw ArcadeError.runtime("\(owner.kindName) has no member “\(name)”.")
            }
            return value
        case .null: throw ArcadeError.runtime("null has no member “\(name)”.")
        default: throw ArcadeError.runtime("\(owner.kindName) has no members, so there is no “\(name)”.")
        }
    }

    static func element(_ owner: Value, _ key: Value, _ machine: Machine) throws -> Value {
        switch owner {
        case .array(let array):
            let index = try index(key)
            guard let place = array.place(index) else {
                throw ArcadeError.runtime("The array has \(array.elements.count) elements and none at \(index).")
            }
            return array.elements[place]
        case .dictionary, .feature, .geometry:
            guard case .text(let name) = key else {
                throw ArcadeError.runtime("A member is named by a text, and not by \(key.kindName).")
            }
            return try member(owner, name, machine)
        default: throw ArcadeError.runtime("\(owner.kindName) has no elements.")
        }
    }

    static func index(_ key: Value) throws -> Int {
        guard case .number(let number) = key, let index = Int(exactly: number) else {
            throw ArcadeError.runtime("An element of an array is named by a whole number, and not by \(key.kindName).")
        }
        return index
    }

    static func setMember(_ owner: Value, _ name: String, _ value: Value, _ machine: Machine) throws {
        switch owner {
        case .dictionary(let dictionary):
            guard !dictionary.isFixed else { throw ArcadeError.runtime("This dictionary can't be changed.") }
            if dictionary.place(of: name) == nil {
                try machine.checkCount(dictionary.count + 1)
                try machine.chargeMemory(96 + name.utf8.count)
            }
            machine.link(dictionary, value)
            dictionary[name] = value
        case .feature(let feature):
            guard feature.isMutable else {
                throw ArcadeError.runtime("This feature can't be changed: make a copy with Feature.")
            }
            guard let place = feature.schema.place(of: name) else {
                throw ArcadeError.runtime("The feature has no field “\(name)”.")
            }
            feature.set(try FeatureFunctions.attribute(value), at: place)
        default: throw ArcadeError.runtime("Members of \(owner.kindName) can't be set.")
        }
    }

    static func setElement(_ owner: Value, _ key: Value, _ value: Value, _ machine: Machine) throws {
        guard case .array(let array) = owner else {
            guard case .text(let name) = key else {
                throw ArcadeError.runtime("A member is named by a text, and not by \(key.kindName).")
            }
            return try setMember(owner, name, value, machine)
        }
        let index = try index(key)
        try ArrayFunctions.checkMutable(array)
        if index == array.elements.count {
            try ArrayFunctions.append(value, to: array, machine)
        } else if let place = array.place(index) {
            machine.link(array, value)
            array.elements[place] = value
        } else {
            throw ArcadeError.runtime("The array has \(array.elements.count) elements and can't be set at \(index).")
        }
    }
}
