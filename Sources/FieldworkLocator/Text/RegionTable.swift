/// States, provinces and regions of countries whose addresses and place names are told apart by them.
struct RegionTable {
    struct Region {
        var country: String
        /// The short form that people write, or that the country's standard (ISO 3166-2) has.
        var code: String
        /// The code that GeoNames' files have in the column `admin1 code`.
        var geoNames: String
        /// The name in the country's language first, then names in others.
        var names: [String]
    }

    let all: [Region]
    private let byCode: [String: [Int]]
    private let byName: [String: [Int]]

    static let shared = RegionTable(lines)

    private init(_ lines: [String: String]) {
        var all: [Region] = []
        for (country, text) in lines.sorted(by: { $0.key < $1.key }) {
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
                guard parts.count == 3 else { continue }
                let names = parts[2].split(separator: "|").map(String.init)
                all.append(Region(country: country, code: parts[0], geoNames: parts[1], names: names))
            }
        }
        self.all = all
        byCode = Dictionary(grouping: all.indices) { all[$0].code }
        var byName: [String: [Int]] = [:]
        for (index, region) in all.enumerated() {
            for name in region.names { byName[TokenizedText.key(name), default: []].append(index) }
        }
        self.byName = byName
    }

    /// Countries whose addresses have the short form of the region, and whose short forms are known without the country.
    static let writesCodes: Set<String> = ["US", "CA", "AU"]

    /// The region of a code or a name; without a country one of those that write codes.
    func region(_ text: String, country: String) -> Region? {
        let found = (byCode[text.uppercased()] ?? []) + (byName[TokenizedText.key(text)] ?? [])
        guard country.isEmpty else { return found.lazy.map { all[$0] }.first { $0.country == country } }
        // Of several the United States come first: CA is Canada's by its country alone.
        let known = found.map { all[$0] }.filter { Self.writesCodes.contains($0.country) }
        return known.first { $0.country == "US" } ?? known.first
    }

    /// The region of a code that GeoNames' files have.
    func region(geoNames code: String, country: String) -> Region? {
        all.first { $0.country == country && $0.geoNames == code }
    }
}

extension RegionTable {
    /// A region a line: code, GeoNames' code, names.
    private static let lines = [
        "US": """
        AL AL Alabama
        AK AK Alaska
        AZ AZ Arizona
        AR AR Arkansas
        CA CA California
        CO CO Colorado
        CT CT Connecticut
        DE DE Delaware
        DC DC District of Columbia
        FL FL Florida
        GA GA Georgia
        HI HI Hawaii
        ID ID Idaho
        IL IL Illinois
        IN IN Indiana
        IA IA Iowa
        KS KS Kansas
        KY KY Kentucky
        LA LA Louisiana
        ME ME Maine
        MD MD Maryland
        MA MA Massachusetts
        MI MI Michigan
        MN MN Minnesota
        MS MS Mississippi
        MO MO Missouri
        MT MT Montana
        NE NE Nebraska
        NV NV Nevada
        NH NH New Hampshire
        NJ NJ New Jersey
        NM NM New Mexico
        NY NY New York
        NC NC North Carolina
        ND ND North Dakota
        OH OH Ohio
        OK OK Oklahoma
        OR OR Oregon
        PA PA Pennsylvania
        RI RI Rhode Island
        SC SC South Carolina
        SD SD South Dakota
        TN TN Tennessee
        TX TX Texas
        UT UT Utah
        VT VT Vermont
        VA VA Virginia
        WA WA Washington
        WV WV West Virginia
        WI WI Wisconsin
        WY WY Wyoming
        PR PR Puerto Rico
        GU GU Guam
        VI VI United States Virgin Islands
        AS AS American Samoa
        MP MP Northern Mariana Islands
        """,
        "CA": """
        AB 01 Alberta
        BC 02 British Columbia|Colombie-Britannique
        MB 03 Manitoba
        NB 04 New Brunswick|Nouveau-Brunswick
        NL 05 Newfoundland and Labrador|Newfoundland|Terre-Neuve-et-Labrador
        NS 07 Nova Scotia|Nouvelle-Écosse
        ON 08 Ontario
        PE 09 Prince Edward Island|PEI|Île-du-Prince-Édouard
        QC 10 Québec|Quebec
        SK 11 Saskatchewan
        YT 12 Yukon
        NT 13 Northwest Territories|Territoires du Nord-Ouest
        NU 14 Nunavut
        """,
        "AU": """
        ACT 01 Australian Capital Territory
        NSW 02 New South Wales
        NT 03 Northern Territory
        QLD 04 Queensland
        SA 05 South Australia
        TAS 06 Tasmania
        VIC 07 Victoria
        WA 08 Western Australia
        """,
        "DE": """
        BW 01 Baden-Württemberg
        BY 02 Bayern|Bavaria|Bavière
        HB 03 Bremen
        HH 04 Hamburg
        HE 05 Hessen|Hesse
        NI 06 Niedersachsen|Lower Saxony|Basse-Saxe
        NW 07 Nordrhein-Westfalen|NRW|North Rhine-Westphalia
        RP 08 Rheinland-Pfalz|RLP|Rhineland-Palatinate
        SL 09 Saarland
        SH 10 Schleswig-Holstein
        BB 11 Brandenburg
        MV 12 Mecklenburg-Vorpommern|Mecklenburg-Western Pomerania
        SN 13 Sachsen|Saxony|Saxe
        ST 14 Sachsen-Anhalt|Saxony-Anhalt
        TH 15 Thüringen|Thuringia
        BE 16 Berlin
        """,
        "AT": """
        B 01 Burgenland
        K 02 Kärnten|Carinthia
        NÖ 03 Niederösterreich|Lower Austria
        OÖ 04 Oberösterreich|Upper Austria
        S 05 Salzburg
        ST 06 Steiermark|Styria
        T 07 Tirol|Tyrol
        V 08 Vorarlberg
        W 09 Wien|Vienna
        """,
        "CH": """
        AG AG Aargau|Argovie
        AI AI Appenzell Innerrhoden
        AR AR Appenzell Ausserrhoden
        BE BE Bern|Berne|Berna
        BL BL Basel-Landschaft|Bâle-Campagne
        BS BS Basel-Stadt|Bâle-Ville
        FR FR Fribourg|Freiburg
        GE GE Genève|Genf|Geneva|Ginevra
        GL GL Glarus|Glaris
        GR GR Graubünden|Grisons|Grigioni
        JU JU Jura
        LU LU Luzern|Lucerne|Lucerna
        NE NE Neuchâtel|Neuenburg
        NW NW Nidwalden|Nidwald
        OW OW Obwalden|Obwald
        SG SG Sankt Gallen|Saint-Gall
        SH SH Schaffhausen|Schaffhouse
        SO SO Solothurn|Soleure
        SZ SZ Schwyz
        TG TG Thurgau|Thurgovie
        TI TI Ticino|Tessin
        UR UR Uri
        VD VD Vaud|Waadt
        VS VS Valais|Wallis
        ZG ZG Zug|Zoug
        ZH ZH Zürich|Zurich
        """,
        "GB": """
        ENG ENG England|Angleterre
        SCT SCT Scotland|Schottland|Écosse
        WLS WLS Wales|Cymru|Pays de Galles
        NIR NIR Northern Ireland|Nordirland|Irlande du Nord
        """,
        "FR": """
        IDF 11 Île-de-France
        CVL 24 Centre-Val de Loire
        BFC 27 Bourgogne-Franche-Comté|Burgundy
        NOR 28 Normandie|Normandy
        HDF 32 Hauts-de-France
        GES 44 Grand Est
        PDL 52 Pays de la Loire
        BRE 53 Bretagne|Brittany
        NAQ 75 Nouvelle-Aquitaine
        OCC 76 Occitanie|Occitania
        ARA 84 Auvergne-Rhône-Alpes
        PAC 93 Provence-Alpes-Côte d’Azur|PACA
        COR 94 Corse|Corsica|Korsika
        """,
        "IT": """
        ABR 01 Abruzzo
        BAS 02 Basilicata
        CAL 03 Calabria
        CAM 04 Campania
        EMR 05 Emilia-Romagna
        FVG 06 Friuli-Venezia Giulia
        LAZ 07 Lazio
        LIG 08 Liguria
        LOM 09 Lombardia|Lombardy|Lombardei
        MAR 10 Marche
        MOL 11 Molise
        PIE 12 Piemonte|Piedmont|Piemont
        PUG 13 Puglia|Apulia|Apulien
        SAR 14 Sardegna|Sardinia|Sardinien
        SIC 15 Sicilia|Sicily|Sizilien
        TOS 16 Toscana|Tuscany|Toskana
        TAA 17 Trentino-Alto Adige|Südtirol|South Tyrol
        UMB 18 Umbria
        VDA 19 Valle d’Aosta|Vallée d’Aoste
        VEN 20 Veneto|Venetien
        """,
        "PL": """
        DS 72 Dolnośląskie|Lower Silesia|Niederschlesien
        KP 73 Kujawsko-Pomorskie|Kuyavia-Pomerania
        LD 74 Łódzkie|Łódź
        LU 75 Lubelskie
        LB 76 Lubuskie
        MA 77 Małopolskie|Lesser Poland|Kleinpolen
        MZ 78 Mazowieckie|Masovia|Masowien
        OP 79 Opolskie
        PK 80 Podkarpackie|Subcarpathia
        PD 81 Podlaskie|Podlachien
        PM 82 Pomorskie|Pomerania|Pommern
        SL 83 Śląskie|Silesia|Schlesien
        SK 84 Świętokrzyskie
        WN 85 Warmińsko-Mazurskie|Warmia-Masuria
        WP 86 Wielkopolskie|Greater Poland|Großpolen
        ZP 87 Zachodniopomorskie|West Pomerania
        """,
        "FI": """
        18 01 Uusimaa|Nyland
        19 02 Varsinais-Suomi|Egentliga Finland
        17 04 Satakunta
        06 05 Kanta-Häme|Egentliga Tavastland
        11 06 Pirkanmaa|Birkaland
        16 07 Päijät-Häme|Päijänne-Tavastland
        09 08 Kymenlaakso|Kymmenedalen
        02 09 Etelä-Karjala|Södra Karelen|South Karelia
        04 10 Etelä-Savo|Södra Savolax
        15 11 Pohjois-Savo|Norra Savolax
        13 12 Pohjois-Karjala|Norra Karelen|North Karelia
        08 13 Keski-Suomi|Mellersta Finland|Central Finland
        03 14 Etelä-Pohjanmaa|Södra Österbotten
        12 15 Pohjanmaa|Österbotten|Ostrobothnia
        07 16 Keski-Pohjanmaa|Mellersta Österbotten
        14 17 Pohjois-Pohjanmaa|Norra Österbotten
        05 18 Kainuu|Kajanaland
        10 19 Lappi|Lappland|Lapland
        """,
    ]
}
