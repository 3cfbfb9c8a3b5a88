"""Function words by language: articles, pronouns, prepositions, auxiliaries, question words.

They are left out of queries and of the test whether a passage speaks of what was asked; passages
keep them. Each list holds whole words in lower case.
"""

from __future__ import annotations

from typing import Final

_NORWEGIAN: Final = """
    en ei et den det de denne dette disse ingen
    jeg meg min mitt mine du deg din ditt dine han ham hans hun henne hennes vi oss vår vårt
    våre dere deres dem man seg sin sitt sine
    hvem hva når hvor hvorfor hvordan hvilken hvilket hvilke som der
    og eller men om at enn så fordi i på av for med til fra ved under over mellom gjennom uten
    mot etter før hos
    er var være vært blir bli ble har hadde ha kan kunne må skal skulle vil ville
    ikke også bare her
"""

STOP_WORDS: Final = {
    "en": """
        a an the this that these those such some any each every no nor not
        i me my mine myself we us our ours ourselves you your yours yourself yourselves
        he him his himself she her hers herself it its itself they them their theirs themselves
        who whom whose which what when where why how there here
        and or but if then than so because as while although though whether
        of in on at by for with from to into onto out off up down about above below over under
        between through during before after against within without upon per
        am is are was were be been being do does did doing done have has had having
        can could may might must shall should will would cannot
        i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd
        we'd they'd i'll you'll he'll she'll it'll we'll they'll that's there's what's who's how's
        where's when's isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't
        couldn't won't wouldn't shouldn't mustn't let's
        just also only too very more most own same other both again further once please
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner
        ich mich mir mein meine meinen meinem meiner du dich dir dein deine er ihn ihm sein seine
        seinen seinem seiner sie ihr ihre ihren ihrem ihrer es wir uns unser unsere euch euer man
        sich dieser diese dieses diesen diesem jener jene jenes jenen jeder jede jedes jeden
        wer wen wem wessen was wann wo warum wieso weshalb wie wohin woher welche welcher welches
        welchen welchem und oder aber denn sondern wenn als ob dass weil da damit obwohl während
        in im ins an am ans auf aus bei beim bis durch für gegen mit nach ohne über um unter von vom
        vor zu zum zur zwischen seit
        bin bist ist sind seid war waren wird werden wurde wurden worden habe hast hat haben hatte
        hatten kann können konnte muss müssen musste soll sollen sollte darf dürfen will wollen
        nicht auch nur noch schon so sehr hier dort dann doch
    """,
    "fr": """
        le la les l un une des du de d au aux ce cet cette ces c
        je j me m moi mon ma mes tu te t toi ton ta tes il elle on se s soi son sa ses lui nous
        notre nos vous votre vos ils elles eux leur leurs y en
        qui que qu quoi quel quelle quels quelles quand où pourquoi comment combien dont lequel
        laquelle lesquels lesquelles
        et ou mais donc or ni car si comme lorsque puisque
        à dans par pour sur sous avec sans entre vers chez depuis pendant avant après contre
        suis es est sommes êtes sont était étaient été être ai as a avons avez ont avait avaient
        avoir eu peut peuvent pouvez doit doivent fait faire
        ne n pas plus non très aussi ici là
    """,
    "es": """
        el la los las lo un una unos unas al del este esta esto estos estas ese esa eso esos esas
        yo me mí mi mis tú te ti tu tus él ella ello se sí su sus nosotros nos nuestro nuestra
        vosotros os vuestro ellos ellas le les usted ustedes
        quien quién quienes que qué cual cuál cuales cuáles cuando cuándo donde dónde por como cómo
        cuanto cuánto cuántos cuántas y e o u pero sino si porque aunque
        a ante bajo con contra de desde en entre hacia hasta para según sin sobre tras
        soy eres es somos son era eran fue fueron ser sido estoy está están estaba estar he has ha
        hemos han había haber hay puede pueden puedo debe deben
        no ni muy más también ya
    """,
    "it": """
        il lo la i gli le l un uno una del dello della dei degli delle dell al allo alla ai agli
        alle all dal dallo dalla dai dagli dalle dall nel nello nella nei negli nelle nell sul
        sullo sulla sui sugli sulle sull questo questa questi queste quello quella quelli quelle
        io mi me mio mia miei mie tu ti te tuo tua lui lei si sé suo sua suoi sue noi ci nostro
        nostra voi vi vostro loro ne li
        chi che cosa cui quale quali quando dove perché come quanto quanta quanti quante
        e ed o ma se anche di d a ad da in con su per tra fra
        sono sei è siamo siete era erano essere stato stata ho hai ha abbiamo avete hanno aveva
        avere può possono deve devono non più molto
    """,
    "pt": """
        o a os as um uma uns umas do da dos das no na nos nas ao aos à às pelo pela pelos pelas
        este esta isto estes estas esse essa isso esses essas aquele aquela aquilo
        eu me mim meu minha meus minhas tu te teu tua ele ela se si seu sua seus suas nós nosso
        nossa vós eles elas lhe lhes você vocês
        quem que qual quais quando onde porque porquê por como quanto quantos quantas
        e ou mas se embora de em com sem para até entre sobre sob desde contra
        sou és é somos são era eram foi foram ser sido estou está estão estava estar tem têm tinha
        ter há pode podem deve devem não nem muito mais também já
    """,
    "nl": """
        de het een dit dat deze die geen
        ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen
        zich men wie wat wanneer waar waarom hoe welk welke hoeveel
        en of maar want als dan omdat hoewel terwijl
        in op aan bij van voor met naar uit over onder tussen door tot om te zonder tegen na sinds
        ben bent is was waren wees geweest word wordt worden werd werden heb hebt heeft hebben had
        hadden kan kunnen kon moet moeten mag mogen zal zullen zou wil willen
        niet ook nog al wel zo zeer er hier daar
    """,
    "sv": """
        en ett den det de denna detta dessa ingen inget inga
        jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes vi oss vår vårt
        våra ni er ert era dem deras man sig sin sitt sina
        vem vad när var varför hur vilken vilket vilka som
        och eller men om att än så därför eftersom i på av för med till från vid under över mellan
        genom utan mot efter före hos
        är var vara varit blir bli blev har hade ha kan kunde måste ska skall skulle vill får
        inte ej också bara här där
    """,
    "da": """
        en et den det de denne dette disse ingen intet
        jeg mig min mit mine du dig din dit dine han ham hans hun hende hendes vi os vores i jer
        jeres dem deres man sig sin sit sine
        hvem hvad hvornår hvor hvorfor hvordan hvilken hvilket hvilke som der
        og eller men om at end så fordi på af for med til fra ved under over mellem gennem uden mod
        efter før hos
        er var være været bliver blive blev har havde have kan kunne må skal skulle vil ville
        ikke også kun her
    """,
    "no": _NORWEGIAN,
    "nb": _NORWEGIAN,
    "nn": _NORWEGIAN,
    "ru": """
        я меня мне мной мой моя моё мои ты тебя тебе твой он его ему им нём она её ей ней оно мы нас
        нам наш наша наши вы вас вам ваш ваша они их ими них себя себе свой своя свои
        это этот эта эти этого этой этом этих тот та то те того той том тех весь всё все всех
        кто кого кому что чего чему чем какой какая какое какие каких какого какой каким каком
        который которая которое которые когда где куда откуда почему зачем как сколько чей
        и а но или если то чтобы потому хотя ли же бы
        в во на за из от до по под над о об обо при про для с со к ко у без через между перед после
        был была было были быть есть будет будут может могут можно не ни нет да
        также ещё уже только очень так там тут здесь
    """,
    "pl": """
        ja mnie mi mój moja moje ty ciebie ci twój on jego go jemu mu ona jej ją ono my nas nam nasz
        wy was wam wasz oni one ich im się siebie swój
        ten ta to te ci tego tej tym tych tamten
        kto kogo komu co czego czemu czym jaki jaka jakie który która które którzy kiedy gdzie
        dlaczego jak ile czy i a ale lub albo jeśli że żeby bo ponieważ
        w we na za z ze od do po pod nad o przy dla u bez przez między przed
        jestem jest są był była było były być będzie będą może mogą można ma mają nie tak
        także też już tylko bardzo tu tam
    """,
    "ar": """
        في من إلى الى على عن مع بين حتى منذ خلال عند بعد قبل
        و أو او ثم لكن بل أن ان إن لأن إذا اذا لو كي
        هذا هذه ذلك تلك هؤلاء الذي التي الذين اللذان
        أنا انا نحن أنت انت هو هي هم هن ما ماذا من متى أين اين لماذا كيف كم أي اي هل
        كان كانت كانوا يكون تكون ليس ليست لا لم لن قد كل
    """,
}

FUNCTION_CHARACTERS: Final = frozenset(
    "的了着过是在和有不没这那哪什么怎样吗呢吧啊由被把与及或就都也还们其之而于以为因所你我他她它谁几多少个"
    "這麼樣嗎過與還們於為個來来何誰"
) | frozenset(map(chr, range(0x3041, 0x3097)))
"""Chinese particles and pronouns, the question words of Japanese, and all hiragana."""
