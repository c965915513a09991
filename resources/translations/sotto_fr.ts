<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr_FR" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <location filename="../../desktop/sotto/ui/app/shell.py" line="+164"/>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="+126"/>
        <source>Sotto closed unexpectedly</source>
        <translation>Sotto s’est fermé de façon inattendue</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Running the engine separately keeps a crash from closing the app. Takes effect after restart.</source>
        <translation>Si le moteur s’exécute à part, une panne ne ferme plus l’app. Prend effet au redémarrage.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="+67"/>
        <source>Turn on</source>
        <translation>Activer</translation>
    </message>
    <message>
        <location line="+147"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+50"/>
        <source>Quick prompt shortcut</source>
        <translation>Raccourci du prompt rapide</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Sotto keeps running when its window is closed</source>
        <translation>Sotto reste actif quand sa fenêtre est fermée</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from this menu.</source>
        <translation>Ce menu permet de l’ouvrir ou de le quitter.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from the tray, or quit with Ctrl+Q.</source>
        <translation>Ouvrez-le ou quittez-le depuis la zone de notification&#xa0;; Ctrl+Q le quitte aussi.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/tray.py" line="+65"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+136"/>
        <source>No model</source>
        <translation>Aucun modèle</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+212"/>
        <source>not loaded</source>
        <translation>non chargé</translation>
    </message>
    <message>
        <location line="-5"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>loading</source>
        <translation>chargement</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ready</source>
        <translation>prêt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>answering</source>
        <translation>répond</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>ejecting</source>
        <translation>éjection</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>could not be loaded</source>
        <translation>échec du chargement</translation>
    </message>
    <message>
        <location line="+30"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+68"/>
        <source>Eject Model</source>
        <translation>Éjecter le modèle</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-23"/>
        <source>Quick Prompt</source>
        <translation>Prompt rapide</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-19"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-1"/>
        <source>New Chat</source>
        <translation>Nouvelle discussion</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+148"/>
        <source>Open Sotto</source>
        <translation>Ouvrir Sotto</translation>
    </message>
    <message>
        <location line="-146"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+31"/>
        <source>Quit Sotto</source>
        <translation>Quitter Sotto</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/chat_settings_panel.py" line="+37"/>
        <source>Instructions that the model gets before your messages</source>
        <translation>Instructions que le modèle reçoit avant vos messages</translation>
    </message>
    <message>
        <location line="+18"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+37"/>
        <source>Chat settings</source>
        <translation>Réglages de la discussion</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="+59"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+122"/>
        <source>System prompt</source>
        <translation>Prompt système</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Reset to defaults</source>
        <translation>Réinitialiser</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+172"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+6"/>
        <source>Thinking</source>
        <translation>Réflexion</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="+59"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-33"/>
        <source>Answers</source>
        <translation>Réponses</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Close chat settings</source>
        <translation>Fermer les réglages de la discussion</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>This chat</source>
        <translation>Cette discussion</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>Fewer options</source>
        <translation>Moins d’options</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>More options</source>
        <translation>Plus d’options</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+94"/>
        <source>Attach files</source>
        <translation>Joindre des fichiers</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach text files, PDFs or images</source>
        <translation>Joindre des fichiers texte, des PDF ou des images</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Take a screenshot</source>
        <translation>Faire une capture d’écran</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach a picture of a part of the screen</source>
        <translation>Joindre une image d’une partie de l’écran</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+45"/>
        <source>Send message</source>
        <translation>Envoyer le message</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Write a message</source>
        <translation>Écrivez un message</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Shift+Enter for a new line</source>
        <translation>Maj+Entrée pour aller à la ligne</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-100"/>
        <source>Stop loading</source>
        <translation>Arrêter le chargement</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop answering</source>
        <translation>Arrêter la réponse</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Stop (Esc)</source>
        <translation>Arrêter (Échap)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Send (Enter)</source>
        <translation>Envoyer (Entrée)</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+148"/>
        <source>This model cannot chat</source>
        <translation>Ce modèle ne peut pas discuter</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Sends after this answer</source>
        <translation>Envoi après cette réponse</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sends as soon as the model is loaded</source>
        <translation>Envoi dès que le modèle est chargé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="+146"/>
        <source>Not attached</source>
        <translation>Non joint</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_actions.py" line="+82"/>
        <source>Drop oldest messages</source>
        <translation>Retirer les plus anciens messages</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Continue in a new chat with a summary</source>
        <translation>Continuer dans une nouvelle discussion avec un résumé</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Only the beginning of {name}</source>
        <translation>Seulement le début de {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Only the end of {name}</source>
        <translation>Seulement la fin de {name}</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Make {name} smaller ({tokens} tokens instead of {before})</source>
        <translation>Réduire {name} ({tokens} jetons au lieu de {before})</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Raise the context to {tokens} (memory need unknown)</source>
        <translation>Porter le contexte à {tokens} (besoin en mémoire inconnu)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Raise the context to {tokens} (up to {size} more memory)</source>
        <translation>Porter le contexte à {tokens} (jusqu’à {size} de mémoire en plus)</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_gauge.py" line="+58"/>
        <source>The oldest messages are dropped; with them it would be {tokens}.</source>
        <translation>Les plus anciens messages sont retirés&#xa0;; avec eux, ce serait {tokens}.</translation>
    </message>
    <message>
        <location line="+44"/>
        <source>Context: {used} of {limit} tokens, {share} %.</source>
        <translation>Contexte&#xa0;: {used} tokens sur {limit}, soit {share}&#xa0;%.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Context: {used} of {limit} tokens, all.</source>
        <translation>Contexte&#xa0;: {used} tokens sur {limit}, plein.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{used} of {limit} tokens, even without the oldest messages.</source>
        <translation>{used} tokens sur {limit}, même sans les plus anciens messages.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+2"/>
        <source>Too long</source>
        <translation>Trop long</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{used} of {limit} tokens.</source>
        <translation>{used} tokens sur {limit}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{left} of {limit} tokens are left for the answer.</source>
        <translation>Il reste {left} tokens sur {limit} pour la réponse.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Context nearly full</source>
        <translation>Contexte presque plein</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/drop_overlay.py" line="+77"/>
        <source>Drop to import chats</source>
        <translation>Déposez pour importer des discussions</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not a file on this computer</source>
        <translation>Ce fichier n’est pas sur cet ordinateur</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Download the model first, then drop its folder here.</source>
        <translation>Téléchargez d’abord le modèle, puis déposez son dossier ici.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Drop to load the model in this folder</source>
        <translation>Déposez pour charger le modèle de ce dossier</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load the model with these weights</source>
        <translation>Déposez pour charger le modèle de ces poids</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name}, in the folder {folder}</source>
        <translation>{name}, dans le dossier {folder}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load this model</source>
        <translation>Déposez pour charger ce modèle</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{name} — and {count} more, which will not be loaded</source>
        <translation>
            <numerusform>{name} — et {count} autre, qui ne sera pas chargé</numerusform>
            <numerusform>{name} — et {count} autres, qui ne seront pas chargés</numerusform>
        </translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Drop to attach this image to your message</source>
        <translation>Déposez pour joindre cette image à votre message</translation>
    </message>
    <message numerus="yes">
        <location line="-48"/>
        <source>Drop to load a model and attach this file|Drop to load a model and attach {count} files</source>
        <translation>
            <numerusform>Déposez pour charger un modèle et joindre ce fichier</numerusform>
            <numerusform>Déposez pour charger un modèle et joindre {count} fichiers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Drop to attach this file to your message|Drop to attach {count} files to your message</source>
        <translation>
            <numerusform>Déposez pour joindre ce fichier à votre message</numerusform>
            <numerusform>Déposez pour joindre {count} fichiers à votre message</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+7"/>
        <source>{names} — and {count} more</source>
        <translation>
            <numerusform>{names} — et {count} autre</numerusform>
            <numerusform>{names} — et {count} autres</numerusform>
        </translation>
    </message>
    <message>
        <location line="+34"/>
        <source>Drop to import this model</source>
        <translation>Déposez pour importer ce modèle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="-23"/>
        <source>Answers stay text until you enter one.</source>
        <translation>Les réponses restent du texte tant qu’aucun schéma n’est saisi.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The previous choice still applies.</source>
        <translation>Le choix précédent reste en vigueur.</translation>
    </message>
    <message>
        <location line="+22"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-3"/>
        <source>Text</source>
        <translation>Texte</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schema</source>
        <translation>Schéma</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answer schema</source>
        <translation>Schéma des réponses</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Type or paste a JSON schema, or choose a file</source>
        <translation>Saisissez ou collez un schéma JSON, ou choisissez un fichier</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Choose a File…</source>
        <translation>Choisir un fichier…</translation>
    </message>
    <message>
        <location line="+90"/>
        <source>Choose a schema</source>
        <translation>Choisir un schéma</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schemas</source>
        <translation>Schémas</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/preset_bar.py" line="+46"/>
        <source>Preset name</source>
        <translation>Nom du préréglage</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="+190"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+185"/>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="+90"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+408"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+8"/>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Undo: restore the preset</source>
        <translation>Annuler&#xa0;: restaurer le préréglage</translation>
    </message>
    <message>
        <location line="+45"/>
        <location line="+23"/>
        <source>None</source>
        <comment>preset</comment>
        <translation>Aucun</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Save Changes to “{name}”</source>
        <translation>Enregistrer dans «&#xa0;{name}&#xa0;»</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Save as Preset…</source>
        <translation>Enregistrer comme préréglage…</translation>
    </message>
    <message>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+354"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+307"/>
        <location line="+24"/>
        <source>Rename…</source>
        <translation>Renommer…</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+21"/>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+14"/>
        <source>Delete</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Preset: {name}</source>
        <translation>Préréglage&#xa0;: {name}</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>“{name}” was deleted; this chat keeps its settings.</source>
        <translation>«&#xa0;{name}&#xa0;» a été supprimé&#xa0;; cette discussion garde ses réglages.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="-20"/>
        <source>Think: on</source>
        <translation>Réflexion&#xa0;: oui</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: off</source>
        <translation>Réflexion&#xa0;: non</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: low</source>
        <translation>Réflexion&#xa0;: faible</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: medium</source>
        <translation>Réflexion&#xa0;: moyenne</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: high</source>
        <translation>Réflexion&#xa0;: forte</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: max</source>
        <translation>Réflexion&#xa0;: max.</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>No thinking mode</source>
        <translation>Pas de mode réflexion</translation>
    </message>
    <message>
        <location line="+21"/>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+45"/>
        <location line="+16"/>
        <source>Default</source>
        <translation>Par défaut</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>From Settings: {choice}</source>
        <translation>Selon les réglages&#xa0;: {choice}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Think</source>
        <translation>Réflexion</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Thinking: {choice}</source>
        <translation>Réflexion&#xa0;: {choice}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_announcer.py" line="+65"/>
        <source>{model} answers</source>
        <translation>{model} répond</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>The answer continues</source>
        <translation>La réponse continue</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/toolkit/announcements.py" line="+22"/>
        <source>(code)</source>
        <translation>(code)</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>There is no answer; your message is back in the composer.</source>
        <translation>Il n’y a pas de réponse&#xa0;; votre message est revenu dans la zone de saisie.</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>The answer is complete.</source>
        <translation>La réponse est complète.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The answer was stopped.</source>
        <translation>La réponse a été arrêtée.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The answer was interrupted.</source>
        <translation>La réponse a été interrompue.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_wording.py" line="+13"/>
        <source>Started to call a tool</source>
        <translation>Appel d’outil commencé</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>finished</source>
        <translation>terminée</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>reached the length limit</source>
        <translation>longueur limite atteinte</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped because it repeated itself</source>
        <translation>arrêtée car elle se répétait</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped</source>
        <translation>arrêtée</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Reading prompt {done} / {total}</source>
        <translation>Lecture du prompt {done} / {total}</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+28"/>
        <source>Answering</source>
        <translation>Réponse en cours</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Thought</source>
        <translation>Réflexion</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thought for {duration}</source>
        <translation>Réflexion de {duration}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Wants to use {tool}</source>
        <translation>Souhaite utiliser {tool}</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Edited</source>
        <translation>Modifiée</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted: Sotto closed unexpectedly</source>
        <translation>Interrompue&#xa0;: Sotto s’est fermé de façon inattendue</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted</source>
        <translation>Interrompue</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+41"/>
        <source>Stopped before the answer started</source>
        <translation>Arrêt avant le début de la réponse</translation>
    </message>
    <message>
        <location line="-39"/>
        <source>Stopped</source>
        <translation>Arrêtée</translation>
    </message>
    <message numerus="yes">
        <location line="+42"/>
        <source>1 older token dropped|{count} older tokens dropped</source>
        <translation>
            <numerusform>{count} ancien token retiré</numerusform>
            <numerusform>{count} anciens tokens retirés</numerusform>
        </translation>
    </message>
    <message>
        <location line="+4"/>
        <source>first after {duration}</source>
        <translation>premier après {duration}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>prompt {tokens}</source>
        <translation>prompt {tokens}</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>{count} cached</source>
        <translation>{count} en cache</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>only {count} cached: {reason}</source>
        <translation>seulement {count} en cache&#xa0;: {reason}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>none cached: {reason}</source>
        <translation>rien en cache&#xa0;: {reason}</translation>
    </message>
    <message numerus="yes">
        <location line="-13"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+339"/>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="+275"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="+141"/>
        <source>1 token|{count} tokens</source>
        <translation>
            <numerusform>{count} token</numerusform>
            <numerusform>{count} tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="-44"/>
        <source>A message can have at most {count} files: attach fewer, or combine them.</source>
        <translation>
            <numerusform>Un message peut comporter au plus {count} fichier&#xa0;: joignez-en moins ou regroupez-les.</numerusform>
            <numerusform>Un message peut comporter au plus {count} fichiers&#xa0;: joignez-en moins ou regroupez-les.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not everything was attached</source>
        <translation>Tout n’a pas été joint</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>{file} is already attached to this message.</source>
        <translation>{file} est déjà joint à ce message.</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>{count} files were not attached</source>
        <translation>
            <numerusform>{count} fichier n’a pas été joint</numerusform>
            <numerusform>{count} fichiers n’ont pas été joints</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_library.py" line="+175"/>
        <source>New folder</source>
        <translation>Nouveau dossier</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/conversation/chat_loading.py" line="+41"/>
        <source>1 message of this chat can no longer be read; everything else is here.|{count} messages of this chat can no longer be read; everything else is here.</source>
        <translation>
            <numerusform>{count} message de cette discussion n’est plus lisible&#xa0;; tout le reste est là.</numerusform>
            <numerusform>{count} messages de cette discussion ne sont plus lisibles&#xa0;; tout le reste est là.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Not everything could be read</source>
        <translation>Tout n’a pas pu être lu</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_session.py" line="+168"/>
        <source>Waiting for the model…</source>
        <translation>En attente du modèle…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reading prompt…</source>
        <translation>Lecture du prompt…</translation>
    </message>
    <message>
        <location line="+162"/>
        <source>No answer</source>
        <translation>Aucune réponse</translation>
    </message>
    <message>
        <location line="+151"/>
        <source>No summary</source>
        <translation>Aucun résumé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_thread.py" line="+173"/>
        <source>{file} could not be read or written: {reason}.</source>
        <translation>{file} n’a pas pu être lu ou écrit&#xa0;: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/prefix_reuse.py" line="+43"/>
        <source>this model has not seen it yet</source>
        <translation>ce modèle ne l’a pas encore lu</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>the setting for thinking was changed</source>
        <translation>le réglage de la réflexion a changé</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>the oldest messages were dropped</source>
        <translation>les plus anciens messages ont été retirés</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>its cache was evicted</source>
        <translation>son cache a été libéré</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>the system prompt was changed</source>
        <translation>le prompt système a changé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>an earlier message was changed</source>
        <translation>un message précédent a changé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/row_ids.py" line="+58"/>
        <source>The message before this one could not be saved, so this one is not saved either.</source>
        <translation>Le message précédent n’a pas pu être enregistré&#xa0;; celui-ci ne l’est donc pas non plus.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/summary.py" line="+78"/>
        <source>The model wrote nothing.</source>
        <translation>Le modèle n’a rien écrit.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+33"/>
        <source>Code in {language}</source>
        <translation>Code en {language}</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+1"/>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Wrap lines</source>
        <translation>Renvoi à la ligne</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Wrap long lines</source>
        <translation>Renvoi automatique à la ligne</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy code</source>
        <translation>Copier le code</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+51"/>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+41"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+3"/>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="+47"/>
        <source>Report</source>
        <translation>Rapport</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy report</source>
        <translation>Copier le rapport</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Show logs</source>
        <translation>Afficher les journaux</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>This report stays on your computer unless you send it. It has no messages, keys or names of chats.</source>
        <translation>Ce rapport reste sur votre ordinateur tant que vous ne l’envoyez pas. Il ne contient ni messages, ni clés, ni noms de discussions.</translation>
    </message>
    <message>
        <location line="+19"/>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+12"/>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="+147"/>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="+200"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="+157"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="+98"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+205"/>
        <source>Copied</source>
        <translation>Copié</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/view.py" line="+288"/>
        <source>Scroll table sideways</source>
        <translation>Défilement horizontal du tableau</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Scroll code sideways</source>
        <translation>Défilement horizontal du code</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+63"/>
        <location line="+76"/>
        <source>Searched folders</source>
        <translation>Dossiers parcourus</translation>
    </message>
    <message>
        <location line="-74"/>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+340"/>
        <source>Add a model folder</source>
        <translation>Ajouter un dossier de modèles</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder…</source>
        <translation>Ajouter un dossier…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="+40"/>
        <location line="+34"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+45"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-244"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+71"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+70"/>
        <source>Get a model</source>
        <translation>Obtenir un modèle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/sight_actions.py" line="+64"/>
        <source>{model} does not see images</source>
        <translation>{model} ne voit pas les images</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Switch to a model that sees them, or send without.</source>
        <translation>Passez à un modèle qui les voit, ou envoyez sans.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None of your models sees images: get one that does, or send without.</source>
        <translation>Aucun de vos modèles ne voit les images&#xa0;: obtenez-en un qui les voit, ou envoyez sans.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Use {model}</source>
        <translation>Utiliser {model}</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Get a model…</source>
        <translation>Obtenir un modèle…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Send without image|Send without images</source>
        <translation>
            <numerusform>Envoyer sans l’image</numerusform>
            <numerusform>Envoyer sans les images</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+10"/>
        <source>Looking for models…</source>
        <translation>Recherche de modèles…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Sotto reads them in place and never changes them. Drop a model here to add it.</source>
        <translation>Sotto les lit sur place et ne les modifie jamais. Déposez un modèle ici pour l’ajouter.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No other models found yet</source>
        <translation>Aucun autre modèle trouvé pour l’instant</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models of Ollama, LM Studio and Hugging Face tools appear by themselves. Drop a model here to add it.</source>
        <translation>Les modèles d’Ollama, de LM Studio et des outils Hugging Face apparaissent d’eux-mêmes. Déposez un modèle ici pour l’ajouter.</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>not found</source>
        <translation>introuvable</translation>
    </message>
    <message numerus="yes">
        <location line="+17"/>
        <source>Found 1 model you already have ({size})|Found {count} models you already have ({size})</source>
        <translation>
            <numerusform>{count} modèle trouvé sur cet ordinateur ({size})</numerusform>
            <numerusform>{count} modèles trouvés sur cet ordinateur ({size})</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="+183"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+235"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="+108"/>
        <source>1 model|{count} models</source>
        <translation>
            <numerusform>{count} modèle</numerusform>
            <numerusform>{count} modèles</numerusform>
        </translation>
    </message>
    <message>
        <location line="+0"/>
        <source>no models</source>
        <translation>aucun modèle</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>4-bit models of up to about {billions}B suit this machine ({size} of memory).</source>
        <translation>Les modèles 4 bits jusqu’à environ {billions}B conviennent à cette machine ({size} de mémoire).</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_controller.py" line="+84"/>
        <source>The model was not downloaded</source>
        <translation>Le modèle n’a pas été téléchargé</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-221"/>
        <location line="+272"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+223"/>
        <source>Load</source>
        <translation>Charger</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="-28"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="-27"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+31"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-154"/>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-51"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-2"/>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+79"/>
        <source>Name of the model</source>
        <translation>Nom du modèle</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Instructions that the model gets before each conversation</source>
        <translation>Instructions que le modèle reçoit avant chaque conversation</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+38"/>
        <source>Stop texts</source>
        <translation>Textes d’arrêt</translation>
    </message>
    <message>
        <location line="-37"/>
        <source>One per line</source>
        <translation>Un par ligne</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template</source>
        <translation>Gabarit</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+45"/>
        <source>What the model reads</source>
        <translation>Ce que lit le modèle</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Options</source>
        <translation>Options</translation>
    </message>
    <message>
        <location line="+70"/>
        <source>The template leaves the system prompt out.</source>
        <translation>Le gabarit omet le prompt système.</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Hide the template</source>
        <translation>Masquer le gabarit</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Change the template</source>
        <translation>Modifier le gabarit</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+38"/>
        <source>The selected model</source>
        <translation>Le modèle sélectionné</translation>
    </message>
    <message>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="+227"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="+89"/>
        <source>Suits this machine best</source>
        <translation>Le mieux pour cette machine</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Show its page in the browser</source>
        <translation>Afficher sa page dans le navigateur</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Its page</source>
        <translation>Sa page</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Opens your browser</source>
        <translation>Ouvre votre navigateur</translation>
    </message>
    <message>
        <location line="+134"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+10"/>
        <source>Get</source>
        <translation>Obtenir</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Get {name}</source>
        <translation>Obtenir {name}</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>You have it</source>
        <translation>Déjà présent</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+0"/>
        <source>Get the model</source>
        <translation>Obtenir le modèle</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The name of a model in Ollama’s library, such as llama3.2:3b, or of one on Hugging Face, such as mlx-community/Qwen3-0.6B-4bit.</source>
        <translation>Le nom d’un modèle de la bibliothèque d’Ollama, comme llama3.2:3b, ou de Hugging Face, comme mlx-community/Qwen3-0.6B-4bit.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-76"/>
        <source>Programming</source>
        <translation>Programmation</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Many languages</source>
        <translation>Nombreuses langues</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Long texts</source>
        <translation>Textes longs</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mathematics</source>
        <translation>Mathématiques</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Made in the open</source>
        <translation>Conçu au grand jour</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Everyday questions</source>
        <translation>Questions courantes</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Small machines</source>
        <translation>Petites machines</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thinks first</source>
        <translation>Réfléchit d’abord</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Uses tools</source>
        <translation>Utilise des outils</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Download by this name</source>
        <translation>Télécharger sous ce nom</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Made by</source>
        <translation>Créé par</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Published by</source>
        <translation>Publié par</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Architecture</source>
        <translation>Architecture</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/download_list.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-57"/>
        <source>Downloads</source>
        <translation>Téléchargements</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} licence</source>
        <translation>Licence {name}</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{fit} with {count} tokens</source>
        <translation>{fit} avec {count} tokens</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>On {host}</source>
        <translation>Sur {host}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>By name</source>
        <translation>Par nom</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Suggestions</source>
        <translation>Suggestions</translation>
    </message>
    <message numerus="yes">
        <location line="+6"/>
        <source>1 download|{count} downloads</source>
        <translation>
            <numerusform>{count} téléchargement</numerusform>
            <numerusform>{count} téléchargements</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="+71"/>
        <source>Resume</source>
        <translation>Reprendre</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Resume the download of {name}</source>
        <translation>Reprendre le téléchargement de {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+131"/>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Try the download of {name} again</source>
        <translation>Réessayer le téléchargement de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+24"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-36"/>
        <location line="+36"/>
        <source>Pause</source>
        <translation>Suspendre</translation>
    </message>
    <message>
        <location line="-24"/>
        <source>Pause the download of {name}</source>
        <translation>Suspendre le téléchargement de {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Cancel the download of {name}</source>
        <translation>Annuler le téléchargement de {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customize_sheet.py" line="+39"/>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-33"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+17"/>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="+57"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+186"/>
        <location line="+23"/>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Create</source>
        <translation>Créer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Create the model</source>
        <translation>Créer le modèle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+2"/>
        <source>Downloaded</source>
        <translation>Téléchargé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-116"/>
        <source>Queued</source>
        <translation>En attente</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Looking it up</source>
        <translation>Recherche en cours</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Downloading</source>
        <translation>Téléchargement</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Stalled</source>
        <translation>Bloqué</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Retrying</source>
        <translation>Nouvel essai</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+32"/>
        <source>Paused</source>
        <translation>Suspendu</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verifying</source>
        <translation>Vérification</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+1"/>
        <source>Failed</source>
        <translation>Échec</translation>
    </message>
    <message>
        <location line="+12"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+21"/>
        <source>{done} of {total}</source>
        <translation>{done} sur {total}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>more than a day left</source>
        <translation>plus d’un jour restant</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+3"/>
        <source>{time} left</source>
        <translation>reste {time}</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Updating</source>
        <translation>Mise à jour</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>From Ollama’s library, at {host}.</source>
        <translation>De la bibliothèque d’Ollama, sur {host}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From Hugging Face, where {owner} publishes it.</source>
        <translation>De Hugging Face, où {owner} le publie.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From {host}, where {owner} publishes it.</source>
        <translation>De {host}, où {owner} le publie.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>You already have it: {places}.</source>
        <translation>Vous l’avez déjà&#xa0;: {places}.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{name} is being downloaded.</source>
        <translation>Téléchargement de {name} en cours.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} could not be downloaded</source>
        <translation>{name} n’a pas pu être téléchargé</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Its {size} were checked.</source>
        <translation>Ses {size} ont été vérifiés.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} is up to date</source>
        <translation>{name} est à jour</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} were downloaded and checked.</source>
        <translation>{size} téléchargés et vérifiés.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+58"/>
        <source>{name} is here</source>
        <translation>{name} est disponible</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="-49"/>
        <source>Earlier downloads could not be read</source>
        <translation>Les téléchargements précédents n’ont pas pu être lus</translation>
    </message>
    <message>
        <location line="+46"/>
        <source>The download of {name} was cancelled</source>
        <translation>Le téléchargement de {name} a été annulé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The {size} downloaded so far will be deleted in a moment.</source>
        <translation>Les {size} déjà téléchargés seront supprimés dans un instant.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/idle_unloader.py" line="+68"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-92"/>
        <source>Stays loaded</source>
        <translation>Reste chargé</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unloads in {time} if idle</source>
        <translation>Éjection dans {time} si inactif</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="-157"/>
        <source>{free} free</source>
        <translation>{free} libres</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Memory: {free} of {total} free</source>
        <translation>Mémoire&#xa0;: {free} libres sur {total}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{free} free · getting tight</source>
        <translation>{free} libres · juste</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory getting tight: {free} of {total} free</source>
        <translation>Mémoire juste&#xa0;: {free} libres sur {total}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · nearly full</source>
        <translation>{free} libres · faible</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory nearly full: {free} of {total} free</source>
        <translation>Mémoire faible&#xa0;: {free} libres sur {total}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · critical</source>
        <translation>{free} libres · critique</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory critical: {free} of {total} free</source>
        <translation>Mémoire critique&#xa0;: {free} libres sur {total}</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Memory</source>
        <translation>Mémoire</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+63"/>
        <source>Show memory details</source>
        <translation>Afficher le détail de la mémoire</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide memory details</source>
        <translation>Masquer le détail de la mémoire</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Memory unknown</source>
        <translation>Mémoire inconnue</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Contexts take at most {size}</source>
        <translation>Les contextes occupent au plus {size}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Other programs</source>
        <translation>Autres programmes</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>This model</source>
        <translation>Ce modèle</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Context in use</source>
        <translation>Contexte utilisé</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+8"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+23"/>
        <source>Prompt cache</source>
        <translation>Cache de prompts</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>A context of 1 token|A context of {count} tokens</source>
        <translation>
            <numerusform>Un contexte de {count} token</numerusform>
            <numerusform>Un contexte de {count} tokens</numerusform>
        </translation>
    </message>
    <message>
        <location line="+50"/>
        <source>{name} would take {size}</source>
        <translation>{name} occuperait {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-262"/>
        <source>Weights</source>
        <translation>Poids</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-183"/>
        <source>Context</source>
        <translation>Contexte</translation>
    </message>
    <message>
        <location line="-109"/>
        <source>While computing</source>
        <translation>Pendant le calcul</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Together</source>
        <translation>Total</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Predicted</source>
        <translation>Prévision</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In use now</source>
        <translation>Utilisation actuelle</translation>
    </message>
    <message>
        <location line="+49"/>
        <location line="+206"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+30"/>
        <source>Favourite</source>
        <translation>Favori</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="-175"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-203"/>
        <source>Close details</source>
        <translation>Fermer les détails</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+8"/>
        <location line="+218"/>
        <source>Add adapter…</source>
        <translation>Ajouter un adaptateur…</translation>
    </message>
    <message>
        <location line="-214"/>
        <source>Keep the model in Sotto’s own store, so that it stays when the other program deletes it</source>
        <translation>Garder le modèle dans le dépôt de Sotto, pour qu’il reste si l’autre programme le supprime</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Keep a copy…</source>
        <translation>Garder une copie…</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-23"/>
        <source>Context length</source>
        <translation>Longueur du contexte</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>More about this model</source>
        <translation>Plus d’actions pour ce modèle</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep the model in memory when it is idle</source>
        <translation>Garder le modèle en mémoire quand il est inactif</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+173"/>
        <source>Keep loaded</source>
        <translation>Garder chargé</translation>
    </message>
    <message>
        <location line="-6"/>
        <source>Details of {name}</source>
        <translation>Détails de {name}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Favourites come first in the list</source>
        <translation>Les favoris sont en tête de liste</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Adapter: {name}</source>
        <translation>Adaptateur : {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>No adapter</source>
        <translation>Aucun adaptateur</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Remove adapter</source>
        <translation>Retirer l’adaptateur</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Unknown whether it fits</source>
        <translation>Place en mémoire inconnue</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Converted to {format}</source>
        <translation>Convertis en {format}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{needed} of {total}</source>
        <translation>{needed} sur {total}</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>It will be available again once its disk is connected.</source>
        <translation>Il sera de nouveau disponible une fois son disque connecté.</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-34"/>
        <source>Eject</source>
        <translation>Éjecter</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-9"/>
        <source>Eject {name}</source>
        <translation>Éjecter {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+7"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+25"/>
        <source>Stop</source>
        <translation>Arrêter</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Progress</source>
        <translation>Progression</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+8"/>
        <source>Stop loading {name}</source>
        <translation>Arrêter le chargement de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load anyway</source>
        <translation>Forcer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Load {name} anyway</source>
        <translation>Charger quand même {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load {name}</source>
        <translation>Charger {name}</translation>
    </message>
    <message>
        <location line="+92"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+275"/>
        <source>unknown</source>
        <translation>inconnu</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-147"/>
        <source>Built in</source>
        <translation>Intégré</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Folder</source>
        <translation>Dossier</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>fits into memory</source>
        <translation>tient en mémoire</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>a tight fit</source>
        <translation>tient tout juste</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>does not fit into memory</source>
        <translation>ne tient pas en mémoire</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>unknown whether it fits</source>
        <translation>place en mémoire inconnue</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Disk not connected</source>
        <translation>Disque non connecté</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>favourite</source>
        <translation>favori</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stays loaded</source>
        <translation>reste chargé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-15"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+32"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-210"/>
        <source>Cannot run here</source>
        <translation>Exécution impossible</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-31"/>
        <source>sees images</source>
        <translation>voit les images</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Loaded</source>
        <translation>Chargé</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+67"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-32"/>
        <source>Could not be loaded</source>
        <translation>Échec du chargement</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{bits}-bit</source>
        <translation>{bits} bits</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+179"/>
        <source>vectors</source>
        <translation>vecteurs</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>1-token context|{count}-token context</source>
        <translation>
            <numerusform>contexte de {count} token</numerusform>
            <numerusform>contexte de {count} tokens</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{number} parameters</source>
        <translation>{number} paramètres</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Images</source>
        <translation>Images</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tools</source>
        <translation>Outils</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Embeddings, with sotto embed or the API</source>
        <translation>Embeddings, avec sotto embed ou l’API</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Embeddings</source>
        <translation>Embeddings</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{size} on disk, deleting frees {freed}</source>
        <translation>{size} sur le disque, la suppression libère {freed}</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Memory in use after loading: {percent} % of {size}.</source>
        <translation>Mémoire utilisée après le chargement&#xa0;: {percent}&#xa0;% de {size}.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Predicted {size}, uses {actual}</source>
        <translation>Prévision&#xa0;: {size}&#xa0;; utilisés&#xa0;: {actual}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-90"/>
        <source>Recently Used</source>
        <translation>Utilisation récente</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-84"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+23"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-279"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+342"/>
        <source>Name</source>
        <translation>Nom</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <source>Size</source>
        <translation>Taille</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+3"/>
        <source>Fit</source>
        <translation>Mémoire</translation>
    </message>
    <message>
        <location line="+74"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+16"/>
        <source>Rescan models</source>
        <translation>Actualiser les modèles</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-2"/>
        <source>Sort models</source>
        <translation>Trier les modèles</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <source>Download a model by name</source>
        <translation>Télécharger un modèle par son nom</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-15"/>
        <source>Find a model to download</source>
        <translation>Trouver un modèle à télécharger</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+3"/>
        <source>Manage models</source>
        <translation>Gérer les modèles</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Manage…</source>
        <translation>Gérer…</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-1"/>
        <source>Show all models on a page</source>
        <translation>Afficher tous les modèles sur une page</translation>
    </message>
    <message>
        <location line="+12"/>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_table_view.py" line="+92"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-6"/>
        <location line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+10"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-10"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="-13"/>
        <source>Models</source>
        <translation>Modèles</translation>
    </message>
    <message>
        <location line="+170"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+122"/>
        <source>No model is called “{text}”.</source>
        <translation>Aucun modèle ne s’appelle «&#xa0;{text}&#xa0;».</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Other models appear here. Get one below, or drop one on this window.</source>
        <translation>Les autres modèles apparaissent ici. Obtenez-en un ci-dessous ou déposez-en un sur cette fenêtre.</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Use</source>
        <translation>Utiliser</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Details</source>
        <translation>Détails</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Name</source>
        <translation>Copier le nom</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Show Folder</source>
        <translation>Afficher le dossier</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verify Files</source>
        <translation>Vérifier les fichiers</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Customize…</source>
        <translation>Personnaliser…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use a Template…</source>
        <translation>Utiliser un gabarit…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use the Model’s Template</source>
        <translation>Utiliser le gabarit du modèle</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Duplicate…</source>
        <translation>Dupliquer…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep a Copy…</source>
        <translation>Garder une copie…</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep Loaded</source>
        <translation>Garder chargé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-20"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+22"/>
        <source>Choose a model</source>
        <translation>Choisir un modèle</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-170"/>
        <source>Filter models</source>
        <translation>Filtrer les modèles</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Filter models…</source>
        <translation>Filtrer les modèles…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>No model matches.</source>
        <translation>Aucun modèle ne correspond.</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Manage models…</source>
        <translation>Gérer les modèles…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-253"/>
        <source>Eject and free its memory</source>
        <translation>Éjecter et libérer sa mémoire</translation>
    </message>
    <message>
        <location line="+70"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+218"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-2"/>
        <source>Ejecting…</source>
        <translation>Éjection…</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>cannot run</source>
        <translation>exécution impossible</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>loaded, answering</source>
        <translation>chargé, répond</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>loaded</source>
        <translation>chargé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-55"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-220"/>
        <source>Parameters</source>
        <translation>Paramètres</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+1"/>
        <source>Bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Source</source>
        <translation>Source</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last used</source>
        <translation>Utilisé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Disk use</source>
        <translation>Disque</translation>
    </message>
    <message numerus="yes">
        <location line="+175"/>
        <source>{shown} of 1 model|{shown} of {count} models</source>
        <translation>
            <numerusform>{shown} sur {count} modèle</numerusform>
            <numerusform>{shown} sur {count} modèles</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-25"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+9"/>
        <source>{size} on disk</source>
        <translation>{size} sur le disque</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-10"/>
        <source>Loading…</source>
        <translation>Chargement…</translation>
    </message>
    <message numerus="yes">
        <location line="+27"/>
        <source>With a context of 1 token.|With a context of {count} tokens.</source>
        <translation>
            <numerusform>Avec un contexte de {count} token.</numerusform>
            <numerusform>Avec un contexte de {count} tokens.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>All copies together, in {places}</source>
        <translation>Total des copies&#xa0;: {places}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>never</source>
        <translation>jamais</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>{title}, sorted down</source>
        <translation>{title}, tri décroissant</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{title}, sorted up</source>
        <translation>{title}, tri croissant</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_templates.py" line="+114"/>
        <source>A template for {name}: Jinja or Go</source>
        <translation>Un gabarit pour {name}&#xa0;: Jinja ou Go</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its template</source>
        <translation>{name} garde son gabarit</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Template set</source>
        <translation>Gabarit défini</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>It makes the prompts of {name} from now on.</source>
        <translation>Il produit désormais les prompts de {name}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It makes the prompts of {name} from the next load on.</source>
        <translation>Il produira les prompts de {name} dès le prochain chargement.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template reset</source>
        <translation>Gabarit rétabli</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} uses its own template from now on.</source>
        <translation>{name} utilise désormais son propre gabarit.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} uses its own template from the next load on.</source>
        <translation>{name} utilisera son propre gabarit dès le prochain chargement.</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>The folder of a LoRA adapter for {name}</source>
        <translation>Le dossier d’un adaptateur LoRA pour {name}</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its adapter</source>
        <translation>{name} garde son adaptateur</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Adapter added</source>
        <translation>Adaptateur ajouté</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers with it from now on.</source>
        <translation>{name} répond désormais avec lui.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers with it from the next load on.</source>
        <translation>{name} répondra avec lui à partir du prochain chargement.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Adapter removed</source>
        <translation>Adaptateur retiré</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers without one from now on.</source>
        <translation>{name} répond désormais sans adaptateur.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers without one from the next load on.</source>
        <translation>{name} répondra sans adaptateur à partir du prochain chargement.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="-5"/>
        <source>{name} was not deleted</source>
        <translation>{name} n’a pas été supprimé</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{name} was deleted</source>
        <translation>{name} a été supprimé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frees {size} once the trash is emptied, in an hour.</source>
        <translation>Libère {size} quand la corbeille sera vidée, dans une heure.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{name} could not be restored</source>
        <translation>{name} n’a pas pu être restauré</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Restore {name}</source>
        <translation>Restaurer {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty the Trash</source>
        <translation>Vider la corbeille</translation>
    </message>
    <message>
        <location line="-40"/>
        <source>The trash of models could not be emptied</source>
        <translation>La corbeille des modèles n’a pas pu être vidée</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+12"/>
        <source>The name of {folder} is not UTF-8, so it cannot be saved; rename the folder.</source>
        <translation>Le nom de {folder} n’est pas en UTF-8 et ne peut pas être enregistré&#xa0;; renommez le dossier.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The folder was not added</source>
        <translation>Le dossier n’a pas été ajouté</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="-31"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-9"/>
        <source>Back to the chat</source>
        <translation>Revenir à la discussion</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Back</source>
        <translation>Retour</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Search for models</source>
        <translation>Rechercher des modèles</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Search Hugging Face, or type a name</source>
        <translation>Chercher sur Hugging Face ou saisir un nom</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+5"/>
        <source>Import a folder or a GGUF file into Sotto’s own store</source>
        <translation>Importer un dossier ou un fichier GGUF dans le stockage de Sotto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import…</source>
        <translation>Importer…</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Details of the selected model</source>
        <translation>Détails du modèle sélectionné</translation>
    </message>
    <message numerus="yes">
        <location line="+101"/>
        <source>1 deleted model…|{count} deleted models…</source>
        <translation>
            <numerusform>{count} modèle supprimé…</numerusform>
            <numerusform>{count} modèles supprimés…</numerusform>
        </translation>
    </message>
    <message>
        <location line="+57"/>
        <source>No models yet.</source>
        <translation>Aucun modèle pour l’instant.</translation>
    </message>
    <message>
        <location line="+43"/>
        <source>Ascending</source>
        <translation>Croissant</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Descending</source>
        <translation>Décroissant</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+6"/>
        <source>Choose one above or in the list, or drop one here</source>
        <translation>Choisissez-en un ci-dessus ou dans la liste, ou déposez-en un ici</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Loads when needed</source>
        <translation>Se charge au besoin</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Loading</source>
        <translation>Chargement</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>1 token of context|{count} tokens of context</source>
        <translation>
            <numerusform>{count} token de contexte</numerusform>
            <numerusform>{count} tokens de contexte</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Ready</source>
        <translation>Prêt</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>makes embeddings</source>
        <translation>produit des embeddings</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-11"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+2"/>
        <source>predicts tokens ahead</source>
        <translation>prédit des tokens à l’avance</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+20"/>
        <source>Reading the tokenizer</source>
        <translation>Lecture du tokenizer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Warming up</source>
        <translation>Préchauffage</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>no progress for {time}</source>
        <translation>aucune progression depuis {time}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/palette/palette.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+298"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-39"/>
        <source>Chat</source>
        <translation>Discussion</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-47"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+49"/>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Menu</source>
        <translation>Menu</translation>
    </message>
    <message>
        <location line="+152"/>
        <source>Command palette</source>
        <translation>Palette de commandes</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Search chats, models and commands</source>
        <translation>Rechercher des discussions, modèles et commandes</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Open a chat, load a model, run a command</source>
        <translation>Ouvrir une discussion, charger un modèle, lancer une commande</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Results</source>
        <translation>Résultats</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-69"/>
        <source>No results.</source>
        <translation>Aucun résultat.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/global_shortcut.py" line="+91"/>
        <source>{keys} is not a key that could be pressed: write it as Ctrl+Alt+Space.</source>
        <translation>{keys} n’est pas une combinaison de touches&#xa0;: utilisez une forme comme Ctrl+Alt+Space.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{keys} alone would stop working in all other programs: combine it with Ctrl, Alt or Meta.</source>
        <translation>{keys} seul ne fonctionnerait plus dans les autres programmes&#xa0;: ajoutez-y Ctrl, Alt ou Méta.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_item.py" line="+51"/>
        <source>{file} cannot be changed: {reason}.</source>
        <translation>{file} ne peut pas être modifié&#xa0;: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/mac_keys.py" line="+74"/>
        <source>{keys} cannot be taken: choose a letter, a digit or Space with Cmd, Ctrl or Option.</source>
        <translation>{keys} ne peut pas être utilisé&#xa0;: choisissez une lettre, un chiffre ou Espace avec Cmd, Ctrl ou Option.</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="+79"/>
        <source>{keys} is already used by another program: choose another shortcut for the quick prompt.</source>
        <translation>{keys} est déjà utilisé par un autre programme&#xa0;: choisissez un autre raccourci pour le prompt rapide.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/portal_keys.py" line="+25"/>
        <source>Show or hide the quick prompt</source>
        <translation>Afficher ou masquer le prompt rapide</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Waiting for the desktop to grant the shortcut.</source>
        <translation>En attente de l’accord du bureau pour ce raccourci.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop grants shortcuts only to installed apps: install Sotto’s menu entry, app.sotto.desktop, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Le bureau n’accorde de raccourcis qu’aux apps installées&#xa0;: installez l’entrée de menu de Sotto, app.sotto.desktop, ou associez un raccourci à `sotto --toggle` dans les réglages du bureau.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not grant {keys}, and will ask again at the next start: choose another shortcut or none, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Le bureau n’a pas accordé {keys} et redemandera au prochain démarrage&#xa0;: choisissez un autre raccourci ou aucun, ou associez un raccourci à `sotto --toggle` dans les réglages du bureau.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not answer the request for {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Le bureau n’a pas répondu à la demande de {keys}&#xa0;: choisissez un autre raccourci, ou associez un raccourci à `sotto --toggle` dans les réglages du bureau.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The desktop’s shortcut service has stopped; {keys} will work again when it is back.</source>
        <translation>Le service de raccourcis du bureau s’est arrêté&#xa0;; {keys} fonctionnera de nouveau à son retour.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The desktop could not grant {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Le bureau n’a pas pu accorder {keys}&#xa0;: choisissez un autre raccourci, ou associez un raccourci à `sotto --toggle` dans les réglages du bureau.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop has withdrawn the shortcut: choose another one, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Le bureau a retiré le raccourci&#xa0;: choisissez-en un autre, ou associez un raccourci à `sotto --toggle` dans les réglages du bureau.</translation>
    </message>
    <message>
        <location line="+121"/>
        <source>Your desktop calls it “{description}”. Choose its shortcut in the settings of your desktop.</source>
        <translation>Votre bureau l’appelle «&#xa0;{description}&#xa0;». Choisissez son raccourci dans les réglages du bureau.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your desktop grants: {keys}. You can change it in the settings of your desktop.</source>
        <translation>Votre bureau accorde&#xa0;: {keys}. Vous pouvez le modifier dans les réglages du bureau.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/shortcut_messages.py" line="+6"/>
        <source>Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to {keys} in the settings of your desktop.</source>
        <translation>Les apps ne peuvent pas définir de raccourcis sur ce bureau&#xa0;: associez `sotto --toggle` à {keys} dans les réglages du bureau.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="-7"/>
        <source>There is no {keys} on this keyboard: choose other keys for the quick prompt.</source>
        <translation>{keys} n’existe pas sur ce clavier&#xa0;: choisissez d’autres touches pour le prompt rapide.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+18"/>
        <source>On</source>
        <translation>Oui</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Off</source>
        <translation>Non</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Low</source>
        <translation>Faible</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Medium</source>
        <translation>Moyenne</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>High</source>
        <translation>Forte</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max</source>
        <translation>Max.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much</source>
        <translation>Détermine si le modèle réfléchit avant de répondre et, si possible, à quel point</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Answers follow the JSON schema.</source>
        <translation>Les réponses suivent le schéma JSON.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the regular expression.</source>
        <translation>Les réponses correspondent à l’expression régulière.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the Lark grammar.</source>
        <translation>Les réponses correspondent à la grammaire Lark.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+99"/>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+9"/>
        <source>Answers are JSON objects.</source>
        <translation>Les réponses sont des objets JSON.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answers follow {name}.</source>
        <translation>Les réponses suivent {name}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match {name}.</source>
        <translation>Les réponses correspondent à {name}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/presets.py" line="+122"/>
        <source>A preset needs a name.</source>
        <translation>Un préréglage doit avoir un nom.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>A name can have at most {most} characters; this one has {count}.</source>
        <translation>Un nom compte au plus {most} caractères&#xa0;; celui-ci en a {count}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>There is already a preset “{name}”: choose another name.</source>
        <translation>Il existe déjà un préréglage «&#xa0;{name}&#xa0;»&#xa0;: choisissez un autre nom.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="-46"/>
        <source>Max thinking tokens</source>
        <translation>Tokens de réflexion max.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; then thinking ends</source>
        <translation>En tokens&#xa0;; ensuite, la réflexion s’arrête</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+19"/>
        <source>no limit</source>
        <translation>sans limite</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Temperature</source>
        <translation>Température</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>0 always picks the most likely token; higher is more varied</source>
        <translation>0 choisit toujours le token le plus probable&#xa0;; plus haut, c’est plus varié</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from the most likely tokens up to this total probability</source>
        <translation>Échantillonne parmi les tokens les plus probables jusqu’à ce total de probabilité</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from this many of the most likely tokens; 0 from all</source>
        <translation>Échantillonne parmi ce nombre de tokens les plus probables&#xa0;; 0&#xa0;: parmi tous</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens below this fraction of the highest probability</source>
        <translation>Exclut les tokens sous cette fraction de la plus haute probabilité</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Typical-p</source>
        <translation>Typical-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens that are unusually likely or unlikely</source>
        <translation>Exclut les tokens inhabituellement probables ou improbables</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC</source>
        <translation>XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How often the most likely tokens are excluded, for variety</source>
        <translation>Fréquence d’exclusion des tokens les plus probables, pour varier</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Repeat penalty</source>
        <translation>Pénalité de répétition</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 1 repeats less</source>
        <translation>Au-dessus de 1, moins de répétitions</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY</source>
        <translation>DRY</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 0 avoids repeating whole passages</source>
        <translation>Au-dessus de 0, évite de répéter des passages entiers</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Seed</source>
        <translation>Graine</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The same seed gives the same answer</source>
        <translation>La même graine donne la même réponse</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>random</source>
        <translation>aléatoire</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max response tokens</source>
        <translation>Tokens de réponse max.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+27"/>
        <source>In tokens</source>
        <translation>En tokens</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Presence penalty</source>
        <translation>Pénalité de présence</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted once from tokens that have occurred</source>
        <translation>Soustraite une fois aux tokens déjà apparus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frequency penalty</source>
        <translation>Pénalité de fréquence</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted for each time that a token has occurred</source>
        <translation>Soustraite à chaque apparition d’un token</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Penalty window</source>
        <translation>Fenêtre des pénalités</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The penalties cover this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>Les pénalités portent sur ce nombre de derniers tokens&#xa0;; -1&#xa0;: tout le contexte, 0&#xa0;: aucun</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC threshold</source>
        <translation>Seuil XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC excludes tokens at or above this probability</source>
        <translation>XTC exclut les tokens à partir de cette probabilité</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY base</source>
        <translation>Base DRY</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How fast the DRY penalty grows with the repeated length</source>
        <translation>Vitesse à laquelle la pénalité DRY croît avec la longueur répétée</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY length</source>
        <translation>Longueur DRY</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; shorter passages may repeat</source>
        <translation>En tokens&#xa0;; les passages plus courts peuvent se répéter</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY window</source>
        <translation>Fenêtre DRY</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY covers this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>DRY porte sur ce nombre de derniers tokens&#xa0;; -1&#xa0;: tout le contexte, 0&#xa0;: aucun</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat</source>
        <translation>Mirostat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Version 1 or 2, which replaces the options that exclude tokens; 0 is off</source>
        <translation>Version 1 ou 2, qui remplace les options excluant des tokens&#xa0;; 0&#xa0;: désactivé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat tau</source>
        <translation>Tau Mirostat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How surprising each token should be, in bits</source>
        <translation>Degré de surprise visé pour chaque token, en bits</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat eta</source>
        <translation>Eta Mirostat</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>How fast mirostat adapts</source>
        <translation>Vitesse d’adaptation de Mirostat</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>the model’s maximum</source>
        <translation>maximum du modèle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-13"/>
        <source>Sotto: Quick Prompt</source>
        <translation>Sotto&#xa0;: prompt rapide</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-15"/>
        <source>Quick prompt</source>
        <translation>Prompt rapide</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Ask anything</source>
        <translation>Posez une question</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Use clipboard</source>
        <translation>Presse-papiers</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Insert the clipboard’s text or image</source>
        <translation>Insérer le texte ou l’image du presse-papiers</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+35"/>
        <source>Open in Sotto</source>
        <translation>Ouvrir dans Sotto</translation>
    </message>
    <message>
        <location line="-35"/>
        <source>Continue in Sotto’s window</source>
        <translation>Continuer dans la fenêtre de Sotto</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>More</source>
        <translation>Plus</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>Reset Position</source>
        <translation>Rétablir la position</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide</source>
        <translation>Masquer</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>loading…</source>
        <translation>chargement…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>failed</source>
        <translation>échec</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ejecting…</source>
        <translation>éjection…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Model: {name}, {state}. Choose another one</source>
        <translation>Modèle&#xa0;: {name}, {state}. En choisir un autre</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Model: {name}. Choose another one</source>
        <translation>Modèle&#xa0;: {name}. En choisir un autre</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>No model found</source>
        <translation>Aucun modèle trouvé</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/quick/quick_prompt.py" line="+220"/>
        <source>1 character from the clipboard|{count} characters from the clipboard</source>
        <translation>
            <numerusform>{count} caractère du presse-papiers</numerusform>
            <numerusform>{count} caractères du presse-papiers</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/api_switch.py" line="+128"/>
        <source>The API could not be started ({error}).</source>
        <translation>L’API n’a pas pu être démarrée ({error}).</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/model_library.py" line="+195"/>
        <source>The models could not be listed</source>
        <translation>La liste des modèles n’a pas pu être établie</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{address} is not on this computer: download the model first, then drop its folder.</source>
        <translation>{address} n’est pas sur cet ordinateur&#xa0;: téléchargez d’abord le modèle, puis déposez son dossier.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not on this computer</source>
        <translation>Absent de cet ordinateur</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+231"/>
        <source>{name} could not be loaded</source>
        <translation>{name} n’a pas pu être chargé</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Load {names} from the list.</source>
        <translation>Chargez {names} depuis la liste.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only one model was loaded</source>
        <translation>Un seul modèle a été chargé</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Not everything was loaded</source>
        <translation>Tout n’a pas été chargé</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>The files of {model} are read and compared with their digests.</source>
        <translation>Les fichiers de {model} sont lus et comparés à leurs sommes de contrôle.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Checking files</source>
        <translation>Vérification des fichiers</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>{model} could not be checked</source>
        <translation>{model} n’a pas pu être vérifié</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} is damaged</source>
        <translation>{model} est endommagé</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No damage found</source>
        <translation>Aucun dommage constaté</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>All files of {model} match their digests.</source>
        <translation>Tous les fichiers de {model} correspondent à leurs sommes de contrôle.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/session.py" line="-228"/>
        <source>Choose or download a model; your message is kept.</source>
        <translation>Choisissez ou téléchargez un modèle&#xa0;; votre message est conservé.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No model is loaded</source>
        <translation>Aucun modèle n’est chargé</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>the model</source>
        <translation>le modèle</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>It was in {folder}, on a disk that is not connected.</source>
        <translation>Il était dans {folder}, sur un disque qui n’est pas connecté.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} is not there</source>
        <translation>{model} est absent</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} cannot run here</source>
        <translation>{model} ne peut pas s’exécuter ici</translation>
    </message>
    <message>
        <location line="+195"/>
        <source>The engine stopped</source>
        <translation>Le moteur s’est arrêté</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>This model has no chat template</source>
        <translation>Ce modèle n’a pas de gabarit de discussion</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The chat template ignores questions</source>
        <translation>Le gabarit de discussion ignore les questions</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{wanted} tokens were requested; the engine loaded {loaded}.</source>
        <translation>{wanted} tokens ont été demandés&#xa0;; le moteur en a chargé {loaded}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The context is shorter than requested</source>
        <translation>Le contexte est plus court que demandé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-42"/>
        <location line="+15"/>
        <source>Scroll with the answer</source>
        <translation>Défiler avec la réponse</translation>
    </message>
    <message>
        <location line="-11"/>
        <source>Instructions that models get before your messages</source>
        <translation>Instructions que les modèles reçoivent avant vos messages</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Stops when the answer fills the window, or when you scroll.</source>
        <translation>S’arrête quand la réponse remplit la fenêtre ou quand vous faites défiler.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Defaults for new chats</source>
        <translation>Valeurs par défaut des nouvelles discussions</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much. No effect on models without it.</source>
        <translation>Détermine si le modèle réfléchit avant de répondre et, si possible, à quel point. Sans effet sur les modèles qui ne réfléchissent pas.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Advanced</source>
        <translation>Options avancées</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Individual chats can override these.</source>
        <translation>Chaque discussion peut s’en écarter.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In tokens, up to the maximum of each model. If there is not enough memory, the model is not loaded and you see how many would fit. Applies from the next load.</source>
        <translation>En tokens, jusqu’au maximum de chaque modèle. Si la mémoire ne suffit pas, le modèle n’est pas chargé et vous voyez combien de tokens tiendraient. S’applique au prochain chargement.</translation>
    </message>
    <message>
        <location line="+54"/>
        <source>The system prompt can have at most {most} characters; this one has {count} and is not used.</source>
        <translation>Le prompt système compte au plus {most} caractères&#xa0;; celui-ci en a {count} et n’est pas utilisé.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="-121"/>
        <location line="+59"/>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <location line="-54"/>
        <source>The port that programs connect to</source>
        <translation>Le port auquel les programmes se connectent</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-8"/>
        <location line="+6"/>
        <location line="+27"/>
        <source>Local server</source>
        <translation>Serveur local</translation>
    </message>
    <message>
        <location line="+11"/>
        <location line="+20"/>
        <source>Let other programs use the models</source>
        <translation>Permettre aux autres programmes d’utiliser les modèles</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-21"/>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+0"/>
        <source>Key</source>
        <translation>Clé</translation>
    </message>
    <message>
        <location line="-25"/>
        <location line="+31"/>
        <source>Web pages</source>
        <translation>Pages web</translation>
    </message>
    <message>
        <location line="-30"/>
        <source>None</source>
        <comment>web pages</comment>
        <translation>Aucune</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Generate a new key</source>
        <translation>Générer une nouvelle clé</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Copy the key</source>
        <translation>Copier la clé</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-6"/>
        <source>Copy the address</source>
        <translation>Copier l’adresse</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>{address} accepts only programs on this computer; any other address needs a key.</source>
        <translation>{address} n’accepte que les programmes de cet ordinateur&#xa0;; toute autre adresse exige une clé.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Programs must send it. It can be empty if only this computer can connect.</source>
        <translation>Les programmes doivent l’envoyer. Elle peut être vide si seul cet ordinateur peut se connecter.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Pages that may use the models, such as http://localhost:3000; others are refused.</source>
        <translation>Pages qui peuvent utiliser les modèles, comme http://localhost:3000&#xa0;; les autres sont refusées.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Access</source>
        <translation>Accès</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Compatible with the Ollama, OpenAI and Anthropic APIs. Programs share the model in the window; their requests are not saved in your chats.</source>
        <translation>Compatible avec les API d’Ollama, d’OpenAI et d’Anthropic. Les programmes partagent le modèle de la fenêtre&#xa0;; leurs requêtes ne sont pas enregistrées dans vos discussions.</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>One moment…</source>
        <translation>Un instant…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Off: no program can connect.</source>
        <translation>Inactif&#xa0;: aucun programme ne peut se connecter.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Listening at {address}</source>
        <translation>À l’écoute sur {address}</translation>
    </message>
    <message>
        <location line="+31"/>
        <source>An address is a name or number of this machine, such as {example}, not {typed}.</source>
        <translation>Une adresse est un nom ou un numéro de cette machine, comme {example}, et non {typed}.</translation>
    </message>
    <message>
        <location line="+27"/>
        <source>The pages can have at most {most} characters in total.</source>
        <translation>Les pages comptent au plus {most} caractères au total.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="+15"/>
        <location line="+24"/>
        <location line="+8"/>
        <source>Text size</source>
        <translation>Taille du texte</translation>
    </message>
    <message>
        <location line="-32"/>
        <source>In percent</source>
        <translation>En pour cent</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+7"/>
        <source>Appearance</source>
        <translation>Apparence</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+23"/>
        <source>System</source>
        <translation>Système</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Light</source>
        <translation>Clair</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Dark</source>
        <translation>Sombre</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Smaller text</source>
        <translation>Texte plus petit</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger text</source>
        <translation>Texte plus grand</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Light or dark</source>
        <translation>Clair ou sombre</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>System follows the setting of your desktop.</source>
        <translation>«&#xa0;Système&#xa0;» suit le réglage de votre bureau.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Of the whole window; you can also change it in the View menu.</source>
        <translation>Dans toute la fenêtre&#xa0;; également réglable dans le menu Affichage.</translation>
    </message>
    <message>
        <location line="+5"/>
        <location line="+3"/>
        <source>Language</source>
        <translation>Langue</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+52"/>
        <source>Takes effect after restart.</source>
        <translation>Prend effet au redémarrage.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Animations follow the system’s reduced-motion setting.</source>
        <translation>Les animations suivent le réglage du système qui réduit les mouvements.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="-15"/>
        <source>Your data</source>
        <translation>Vos données</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Delete all chats</source>
        <translation>Supprimer toutes les discussions</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete all?</source>
        <translation>Tout supprimer&#xa0;?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete the prompt cache</source>
        <translation>Supprimer le cache de prompts</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete?</source>
        <translation>Supprimer&#xa0;?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Reset</source>
        <translation>Réinitialiser</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all settings</source>
        <translation>Réinitialiser tous les réglages</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all?</source>
        <translation>Tout réinitialiser&#xa0;?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete all data</source>
        <translation>Supprimer toutes les données</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete everything?</source>
        <translation>Tout supprimer&#xa0;?</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-224"/>
        <location line="+154"/>
        <source>Chats</source>
        <translation>Discussions</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Everything</source>
        <translation>Tout</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>On this computer</source>
        <translation>Sur cet ordinateur</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/settings/settings_window.py" line="+85"/>
        <source>Settings</source>
        <translation>Réglages</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Preferences, presets and the engine’s settings.</source>
        <translation>Préférences, préréglages et réglages du moteur.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Deleted data cannot be restored. Models are not deleted.</source>
        <translation>Les données supprimées ne peuvent pas être restaurées. Les modèles ne sont pas supprimés.</translation>
    </message>
    <message numerus="yes">
        <location line="+14"/>
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="+40"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="-198"/>
        <source>1 chat|{count} chats</source>
        <translation>
            <numerusform>{count} discussion</numerusform>
            <numerusform>{count} discussions</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None</source>
        <comment>chats</comment>
        <translation>Aucune</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty</source>
        <comment>prompt cache</comment>
        <translation>Vide</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Chats, prompt cache and settings: frees {size}.</source>
        <translation>Discussions, cache de prompts et réglages&#xa0;: libère {size}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_choices.py" line="+88"/>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="+128"/>
        <source>Not everything in {folder} could be removed; another Sotto may be using it: close that first.</source>
        <translation>Une partie de {folder} n’a pas pu être supprimée&#xa0;; un autre Sotto l’utilise peut-être&#xa0;: fermez-le d’abord.</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>The limit must be from {least} to the {total} that this machine has, not {size}.</source>
        <translation>La limite doit être comprise entre {least} et les {total} de cette machine&#xa0;; {size} ne convient pas.</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>A speed is a number followed by K, M or G, for example 5 MB, not {typed}.</source>
        <translation>Une vitesse est un nombre suivi de K, M ou G, par exemple 5&#xa0;MB, et non {typed}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The speed must be from {least} to {most} a second, not {speed}.</source>
        <translation>La vitesse doit être comprise entre {least} et {most} par seconde&#xa0;; {speed} ne convient pas.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="-37"/>
        <source>In the app’s process, which is fastest. If the engine crashes, so does the app; your chats are saved.</source>
        <translation>Dans le processus de l’app, le plus rapide. Si le moteur tombe en panne, l’app aussi&#xa0;; vos discussions sont enregistrées.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>In its own process: if it crashes, an answer ends but the app keeps running. It needs a little more memory, and ejecting a model frees all of it.</source>
        <translation>Dans son propre processus&#xa0;: s’il tombe en panne, la réponse s’arrête, mais l’app reste ouverte. Il lui faut un peu plus de mémoire, et éjecter un modèle la libère entièrement.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>If it needs more, it is ended and the answer says so; the next question starts it again.</source>
        <translation>S’il lui en faut plus, il est arrêté et la réponse le signale&#xa0;; la question suivante le redémarre.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{variable} is set to {value} in the environment, which overrides this.</source>
        <translation>{variable} vaut {value} dans l’environnement et l’emporte sur ce réglage.</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+7"/>
        <source>Engine</source>
        <translation>Moteur</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>In the app</source>
        <translation>Dans l’app</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Isolated</source>
        <translation>Isolé</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Where models run</source>
        <translation>Exécution des modèles</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+4"/>
        <source>Memory limit of the isolated engine</source>
        <translation>Limite de mémoire du moteur isolé</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>No limit</source>
        <translation>Sans limite</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-26"/>
        <source>Model folders</source>
        <translation>Dossiers de modèles</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Add Folder…</source>
        <translation>Ajouter un dossier…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder</source>
        <translation>Ajouter un dossier</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Your folders</source>
        <translation>Vos dossiers</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Searched automatically</source>
        <translation>Parcourus automatiquement</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Other programs’ models are read in place and never changed, moved or deleted.</source>
        <translation>Les modèles d’autres programmes sont lus sur place et ne sont jamais modifiés, déplacés ni supprimés.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+3"/>
        <source>Download speed</source>
        <translation>Vitesse de téléchargement</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>Unlimited</source>
        <translation>Illimitée</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>For all downloads together, per second. Applies immediately.</source>
        <translation>Pour l’ensemble des téléchargements, par seconde. S’applique aussitôt.</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>Folders that you add are searched, including their subfolders.</source>
        <translation>Les dossiers que vous ajoutez sont parcourus, y compris leurs sous-dossiers.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>None yet</source>
        <translation>Aucun pour l’instant</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not found</source>
        <translation>Introuvable</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Remove folder {name}</source>
        <translation>Retirer le dossier {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop searching this folder</source>
        <translation>Ne plus parcourir ce dossier</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Add a folder with models</source>
        <translation>Ajouter un dossier de modèles</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>No models</source>
        <translation>Aucun modèle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-51"/>
        <location line="+44"/>
        <source>Unload when idle</source>
        <translation>Éjecter si inactif</translation>
    </message>
    <message>
        <location line="-44"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-10"/>
        <source>In minutes</source>
        <translation>En minutes</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Full</source>
        <translation>Complète</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>8 bits</source>
        <translation>8 bits</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits</source>
        <translation>4 bits</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>16 bits</source>
        <translation>16 bits</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Memory and cache</source>
        <translation>Mémoire et cache</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+4"/>
        <source>Memory limit</source>
        <translation>Limite de mémoire</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Cache in memory</source>
        <translation>Cache en mémoire</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cache on disk</source>
        <translation>Cache sur disque</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+48"/>
        <source>Context precision</source>
        <translation>Précision du contexte</translation>
    </message>
    <message>
        <location line="-47"/>
        <source>Models and their contexts use no more than this.</source>
        <translation>Les modèles et leurs contextes n’en utilisent pas plus.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In memory</source>
        <translation>En mémoire</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How much of earlier prompts stays in memory, so that none is computed twice.</source>
        <translation>Part des prompts précédents gardée en mémoire, pour ne rien calculer deux fois.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>On disk</source>
        <translation>Sur disque</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What no longer fits into memory moves there and survives restarts; 0 turns it off.</source>
        <translation>Ce qui ne tient plus en mémoire y est placé et survit aux redémarrages&#xa0;; 0&#xa0;: désactivé.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Delete the cache on disk</source>
        <translation>Supprimer le cache sur disque</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>On disk now</source>
        <translation>Sur disque actuellement</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+30"/>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Unload after this many minutes idle (0 = never).</source>
        <translation>Éjecter après ce nombre de minutes d’inactivité (0 = jamais).</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+7"/>
        <source>Predict ahead</source>
        <translation>Prédire à l’avance</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Models that have a prediction head write faster with it, and take a little more memory.</source>
        <translation>Les modèles dotés d’une tête de prédiction écrivent plus vite avec elle et prennent un peu plus de mémoire.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Fewer bits allow longer contexts, with slightly less accuracy.</source>
        <translation>Moins de bits permettent des contextes plus longs, avec un peu moins de précision.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Other changes apply when a model is loaded the next time.</source>
        <translation>Les autres changements s’appliquent au prochain chargement d’un modèle.</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>All free memory</source>
        <translation>Mémoire libre</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Automatic</source>
        <translation>Automatique</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models and their contexts use no more than this. The machine has {size} of memory.</source>
        <translation>Les modèles et leurs contextes n’en utilisent pas plus. La machine dispose de {size} de mémoire.</translation>
    </message>
    <message numerus="yes">
        <location line="+9"/>
        <source>{size} in 1 entry, in {folder}|{size} in {count} entries, in {folder}</source>
        <translation>
            <numerusform>{size} en {count} entrée, dans {folder}</numerusform>
            <numerusform>{size} en {count} entrées, dans {folder}</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Nothing</source>
        <translation>Rien</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/model_folders.py" line="+130"/>
        <source>{folder} is not a folder that can be read; choose the folder that contains your models.</source>
        <translation>{folder} n’est pas un dossier lisible&#xa0;; choisissez le dossier qui contient vos modèles.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{folder} is already searched.</source>
        <translation>{folder} est déjà parcouru.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-30"/>
        <location line="+32"/>
        <source>New chat after</source>
        <translation>Nouvelle discussion après</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Shortcut</source>
        <translation>Raccourci</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Start fresh if unused for this many minutes.</source>
        <translation>Repartir de zéro après ce nombre de minutes sans utilisation.</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Launch at login</source>
        <translation>Lancer à l’ouverture de session</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Without a window, so that the quick prompt opens at once.</source>
        <translation>Sans fenêtre, pour que le prompt rapide s’ouvre aussitôt.</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Keep in Dock</source>
        <translation>Garder dans le Dock</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Otherwise, Sotto is only in the menu bar while its window is closed.</source>
        <translation>Sinon, Sotto n’est que dans la barre des menus quand sa fenêtre est fermée.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>The command sotto --toggle does the same; you can bind it to a shortcut in your desktop’s settings.</source>
        <translation>La commande sotto --toggle fait de même&#xa0;; vous pouvez lui associer un raccourci dans les réglages de votre bureau.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Startup</source>
        <translation>Démarrage</translation>
    </message>
    <message>
        <location line="+37"/>
        <source>{keys} shows and hides it anywhere.</source>
        <translation>{keys} l’affiche et le masque partout.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Click to record</source>
        <translation>Cliquez, puis tapez un raccourci</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="-22"/>
        <source>The engine’s settings could not be reset: {reason}.</source>
        <translation>Les réglages du moteur n’ont pas pu être réinitialisés&#xa0;: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/memory_estimate.py" line="+84"/>
        <source>Fits</source>
        <translation>Tient</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tight</source>
        <translation>Tout juste</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Does not fit</source>
        <translation>Ne tient pas</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Unknown</source>
        <translation>Inconnu</translation>
    </message>
    <message>
        <location line="+79"/>
        <source>It has not been checked yet.</source>
        <translation>Il n’a pas encore été vérifié.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its size is unknown.</source>
        <translation>Sa taille est inconnue.</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>The amount of memory is unknown.</source>
        <translation>La quantité de mémoire est inconnue.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="-41"/>
        <source>This model makes embeddings and cannot chat: use it with sotto embed, or through the API.</source>
        <translation>Ce modèle produit des embeddings et ne peut pas discuter&#xa0;: utilisez-le avec sotto embed ou par l’API.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/wording.py" line="+41"/>
        <location line="+11"/>
        <location line="+10"/>
        <source>{seconds} s</source>
        <translation>{seconds}&#xa0;s</translation>
    </message>
    <message>
        <location line="-18"/>
        <source>{minutes} min</source>
        <translation>{minutes}&#xa0;min</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{hours} h {minutes} min</source>
        <translation>{hours}&#xa0;h {minutes}&#xa0;min</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{hours} h</source>
        <translation>{hours}&#xa0;h</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes}&#xa0;min {seconds}&#xa0;s</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{milliseconds} ms</source>
        <translation>{milliseconds}&#xa0;ms</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>just now</source>
        <translation>à l’instant</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{minutes} min ago</source>
        <translation>il y a {minutes}&#xa0;min</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>1 hour ago|{count} hours ago</source>
        <translation>
            <numerusform>il y a {count} heure</numerusform>
            <numerusform>il y a {count} heures</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>yesterday</source>
        <translation>hier</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{count} days ago</source>
        <translation>
            <numerusform>il y a {count} jour</numerusform>
            <numerusform>il y a {count} jours</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/timing/debounced_file.py" line="+65"/>
        <source>{file} cannot be written: {reason}.</source>
        <translation>{file} ne peut pas être écrit&#xa0;: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/confirm_button.py" line="+46"/>
        <source>{action}: click again to confirm</source>
        <translation>{action}&#xa0;: cliquez à nouveau pour confirmer</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/growing_text_edit.py" line="+49"/>
        <source>Message</source>
        <translation>Message</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/notice.py" line="+57"/>
        <location line="+51"/>
        <source>Do it</source>
        <translation>Exécuter</translation>
    </message>
    <message>
        <location line="-49"/>
        <source>Dismiss</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number.py" line="+55"/>
        <source>set here</source>
        <translation>ici</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from Settings</source>
        <translation>réglages</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from the model</source>
        <translation>modèle</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>default</source>
        <translation>par défaut</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number_field.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Clear</source>
        <translation>Effacer</translation>
    </message>
    <message>
        <location line="+64"/>
        <source>{title} must be a number from {least} to {most}, not {typed}.</source>
        <translation>«&#xa0;{title}&#xa0;» doit être un nombre de {least} à {most}, et non {typed}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title} must be a whole number from {least} to {most}, not {typed}.</source>
        <translation>«&#xa0;{title}&#xa0;» doit être un nombre entier de {least} à {most}, et non {typed}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/paged_window.py" line="+44"/>
        <source>{title} pages</source>
        <translation>Pages&#xa0;: {title}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/pane.py" line="+25"/>
        <source>Show sidebar</source>
        <translation>Afficher la barre latérale</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/section_title.py" line="+34"/>
        <source>{title}, expanded</source>
        <translation>{title}, section développée</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Collapse</source>
        <translation>Réduire</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title}, collapsed</source>
        <translation>{title}, section réduite</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Expand</source>
        <translation>Développer</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="-151"/>
        <source>Copy answer</source>
        <translation>Copier la réponse</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answer by {model}</source>
        <translation>Réponse de {model}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Answer</source>
        <translation>Réponse</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+2"/>
        <source>Regenerate</source>
        <translation>Régénérer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Regenerate and keep this answer</source>
        <translation>Régénérer et garder cette réponse</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Try another model</source>
        <translation>Essayer un autre modèle</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Continue answer</source>
        <translation>Continuer la réponse</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+4"/>
        <source>Continue</source>
        <translation>Continuer</translation>
    </message>
    <message>
        <location line="+88"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+2"/>
        <source>Answering…</source>
        <translation>Réponse en cours…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="-251"/>
        <source>Whole Document</source>
        <translation>Tout le document</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the Beginning</source>
        <translation>Seulement le début</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the End</source>
        <translation>Seulement la fin</translation>
    </message>
    <message>
        <location line="+63"/>
        <source>Choose what is sent of {name}</source>
        <translation>Choisir ce qui est envoyé de {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose what is sent</source>
        <translation>Choisir ce qui est envoyé</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Remove {name}</source>
        <translation>Retirer {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Remove</source>
        <translation>Retirer</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Attached: {name}, {details}</source>
        <translation>Joint&#xa0;: {name}, {details}</translation>
    </message>
    <message>
        <location line="+118"/>
        <source>Reading…</source>
        <translation>Lecture…</translation>
    </message>
    <message>
        <location line="+62"/>
        <source>first {percent} %</source>
        <translation>premiers {percent}&#xa0;%</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>last {percent} %</source>
        <translation>derniers {percent}&#xa0;%</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{percent} % of it</source>
        <translation>{percent}&#xa0;% du texte</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/collapsible_parts.py" line="+116"/>
        <source>Show thoughts</source>
        <translation>Afficher la réflexion</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide thoughts</source>
        <translation>Masquer la réflexion</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Thoughts</source>
        <translation>Réflexion</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Thinking…</source>
        <translation>Réflexion en cours…</translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Show arguments</source>
        <translation>Afficher les arguments</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide arguments</source>
        <translation>Masquer les arguments</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Arguments</source>
        <translation>Arguments</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choosing a tool…</source>
        <translation>Choix d’un outil…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Newest thoughts</source>
        <translation>Dernières réflexions</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/find_bar.py" line="+52"/>
        <source>Find in this chat</source>
        <translation>Rechercher dans cette discussion</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Previous match</source>
        <translation>Résultat précédent</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous match (Enter)</source>
        <translation>Résultat précédent (Entrée)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next match</source>
        <translation>Résultat suivant</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Next match (Shift+Enter)</source>
        <translation>Résultat suivant (Maj+Entrée)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Close find bar</source>
        <translation>Fermer la recherche</translation>
    </message>
    <message>
        <location line="+53"/>
        <source>Nothing found</source>
        <translation>Aucun résultat</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{number} of {count}</source>
        <translation>{number} sur {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/jump_to_latest.py" line="+20"/>
        <location line="+13"/>
        <source>Jump to latest</source>
        <translation>Aller au plus récent</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Jump to latest, answer in progress</source>
        <translation>Aller au plus récent, réponse en cours</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="-7"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-54"/>
        <source>Edit message</source>
        <translation>Modifier le message</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Edit answer</source>
        <translation>Modifier la réponse</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Send</source>
        <translation>Envoyer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Save</source>
        <translation>Enregistrer</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Previous version is kept</source>
        <translation>La version précédente est conservée</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Wait for the end of the answer</source>
        <translation>Attendez la fin de la réponse</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="-21"/>
        <source>Delete Answer</source>
        <translation>Supprimer la réponse</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Delete Question</source>
        <translation>Supprimer la question</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Delete Question and Answer|Delete Question and Answers</source>
        <translation>
            <numerusform>Supprimer la question et la réponse</numerusform>
            <numerusform>Supprimer la question et les réponses</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Copy Selection</source>
        <translation>Copier la sélection</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+131"/>
        <source>Copy Link</source>
        <translation>Copier le lien</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Try Another Model…</source>
        <translation>Essayer un autre modèle…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Get an Answer</source>
        <translation>Obtenir une réponse</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Edit…</source>
        <translation>Modifier…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Branch From Here</source>
        <translation>Nouvelle branche ici</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Markdown</source>
        <translation>Afficher le Markdown</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+2"/>
        <source>More actions</source>
        <translation>Plus d’actions</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/notices.py" line="+86"/>
        <source>In another chat.</source>
        <translation>Dans une autre discussion.</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+11"/>
        <source>Open chat</source>
        <translation>Ouvrir la discussion</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/transcript.py" line="+62"/>
        <source>Conversation</source>
        <translation>Conversation</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-18"/>
        <source>Copy message</source>
        <translation>Copier le message</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your message</source>
        <translation>Votre message</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Show more</source>
        <translation>Afficher plus</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Show more of this message</source>
        <translation>Afficher plus de ce message</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Get an answer</source>
        <translation>Obtenir une réponse</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/version_switch.py" line="+24"/>
        <source>Previous version</source>
        <translation>Version précédente</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next version</source>
        <translation>Version suivante</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Version {number} of {count}</source>
        <translation>Version {number} sur {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-136"/>
        <source>Not printed</source>
        <translation>Échec de l’impression</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/pictures/chat_images.py" line="+117"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+99"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="+156"/>
        <source>{file} could not be written: {reason}.</source>
        <translation>{file} n’a pas pu être écrit&#xa0;: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-133"/>
        <location line="+93"/>
        <source>Nothing was exported</source>
        <translation>Rien n’a été exporté</translation>
    </message>
    <message>
        <location line="-98"/>
        <source>Chats as {form}</source>
        <translation>Discussions en {form}</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>There are no chats yet.</source>
        <translation>Il n’y a pas encore de discussion.</translation>
    </message>
    <message>
        <location line="+144"/>
        <source>The chat is no longer there, so it was not exported.</source>
        <translation>La discussion n’existe plus&#xa0;; elle n’a donc pas été exportée.</translation>
    </message>
    <message>
        <location line="+13"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-5"/>
        <source>You</source>
        <translation>Vous</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="-40"/>
        <location line="+30"/>
        <source>Nothing was imported</source>
        <translation>Rien n’a été importé</translation>
    </message>
    <message>
        <location line="+60"/>
        <source>The chats could not be added.</source>
        <translation>Les discussions n’ont pas pu être ajoutées.</translation>
    </message>
    <message numerus="yes">
        <location line="-11"/>
        <source>{added} of 1 chat added|{added} of {count} chats added</source>
        <translation>
            <numerusform>{added} discussion sur {count} ajoutée</numerusform>
            <numerusform>{added} sur {count} discussions ajoutées</numerusform>
        </translation>
    </message>
    <message>
        <location line="-51"/>
        <source>Not everything was imported</source>
        <translation>Tout n’a pas été importé</translation>
    </message>
    <message numerus="yes">
        <location line="+54"/>
        <source>1 chat read|{count} chats read</source>
        <translation>
            <numerusform>{count} discussion lue</numerusform>
            <numerusform>{count} discussions lues</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Opening the files</source>
        <translation>Ouverture des fichiers</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+33"/>
        <source>1 character|{count} characters</source>
        <translation>
            <numerusform>{count} caractère</numerusform>
            <numerusform>{count} caractères</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Attached: {file}</source>
        <translation>Joint&#xa0;: {file}</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="-18"/>
        <source>Imported 1 chat.|Imported {count} chats.</source>
        <translation>
            <numerusform>{count} discussion importée.</numerusform>
            <numerusform>{count} discussions importées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+13"/>
        <source>1 chat got new messages.|{count} chats got new messages.</source>
        <translation>
            <numerusform>{count} discussion a reçu de nouveaux messages.</numerusform>
            <numerusform>{count} discussions ont reçu de nouveaux messages.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="-9"/>
        <source>1 chat was already here.|{count} chats were already here.</source>
        <translation>
            <numerusform>{count} discussion était déjà là.</numerusform>
            <numerusform>{count} discussions étaient déjà là.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{things} could not be read.</source>
        <translation>Impossible de lire&#xa0;: {things}.</translation>
    </message>
    <message numerus="yes">
        <location line="+12"/>
        <source>1 message|{count} messages</source>
        <translation>
            <numerusform>{count} message</numerusform>
            <numerusform>{count} messages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 image|{count} images</source>
        <translation>
            <numerusform>{count} image</numerusform>
            <numerusform>{count} images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 recording|{count} recordings</source>
        <translation>
            <numerusform>{count} enregistrement</numerusform>
            <numerusform>{count} enregistrements</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 file|{count} files</source>
        <translation>
            <numerusform>{count} fichier</numerusform>
            <numerusform>{count} fichiers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 tool call|{count} tool calls</source>
        <translation>
            <numerusform>{count} appel d’outil</numerusform>
            <numerusform>{count} appels d’outils</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 unknown part|{count} unknown parts</source>
        <translation>
            <numerusform>{count} élément inconnu</numerusform>
            <numerusform>{count} éléments inconnus</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/paper.py" line="+120"/>
        <source>The printer could not be used: choose another one, or print to a file.</source>
        <translation>L’imprimante n’a pas pu être utilisée&#xa0;: choisissez-en une autre ou imprimez dans un fichier.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/about.py" line="+27"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+12"/>
        <source>About Sotto</source>
        <translation>À propos de Sotto</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-3"/>
        <source>Licences</source>
        <translation>Licences</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Version {version}</source>
        <translation>Version {version}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Runs language models on your computer</source>
        <translation>Exécute des modèles de langage sur votre ordinateur</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>MIT licence</source>
        <translation>Licence MIT</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="-192"/>
        <source>Importing chats</source>
        <translation>Importation des discussions</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Import complete</source>
        <translation>Importation terminée</translation>
    </message>
    <message>
        <location line="+59"/>
        <source>Exported chats</source>
        <translation>Discussions exportées</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+0"/>
        <source>All files</source>
        <translation>Tous les fichiers</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import chats</source>
        <translation>Importer des discussions</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Import a folder of chats</source>
        <translation>Importer un dossier de discussions</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Nothing to export</source>
        <translation>Rien à exporter</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+33"/>
        <source>This chat has no messages yet.</source>
        <translation>Cette discussion ne contient pas encore de message.</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Export as {form}</source>
        <translation>Exporter en {form}</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Export all chats</source>
        <translation>Exporter toutes les discussions</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choose where to put the folder of chats</source>
        <translation>Emplacement du dossier de discussions</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Nothing to print</source>
        <translation>Rien à imprimer</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Exporting</source>
        <translation>Exportation</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Long chats take a moment.</source>
        <translation>Les longues discussions prennent un moment.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{written} of {count} chats written</source>
        <translation>{written} sur {count} discussions enregistrées</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Exported</source>
        <translation>Exportation terminée</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>Written to {path}.</source>
        <translation>Enregistré dans {path}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show folder</source>
        <translation>Afficher le dossier</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Export cancelled</source>
        <translation>Exportation annulée</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was written.</source>
        <translation>Rien n’a été enregistré.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Printed</source>
        <translation>Impression terminée</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Import cancelled</source>
        <translation>Importation annulée</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was imported.</source>
        <translation>Rien n’a été importé.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="-25"/>
        <source>Switch model</source>
        <translation>Changer de modèle</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>New chat</source>
        <translation>Nouvelle discussion</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Start a new chat</source>
        <translation>Commencer une nouvelle discussion</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Switch to {model}</source>
        <translation>Passer à {model}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} answered last in this chat</source>
        <translation>{model} a répondu en dernier dans cette discussion</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Choose another model</source>
        <translation>Choisir un autre modèle</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Model: {name}</source>
        <translation>Modèle&#xa0;: {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-284"/>
        <source>Archive</source>
        <translation>Archives</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Trash</source>
        <translation>Corbeille</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your chats appear here.</source>
        <translation>Vos discussions apparaissent ici.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No archived chats.</source>
        <translation>Aucune discussion archivée.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The trash is empty. Chats in it are deleted after 30 days.</source>
        <translation>La corbeille est vide. Les discussions y sont supprimées après 30 jours.</translation>
    </message>
    <message>
        <location line="+167"/>
        <source>Choose which chats are listed, or make a folder</source>
        <translation>Choisir les discussions affichées ou créer un dossier</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Chats, archive, trash, folders</source>
        <translation>Discussions, archives, corbeille, dossiers</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Empty…</source>
        <translation>Vider…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Empty the trash</source>
        <translation>Vider la corbeille</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Back to chats</source>
        <translation>Revenir aux discussions</translation>
    </message>
    <message>
        <location line="+81"/>
        <source>Restore</source>
        <translation>Restaurer</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete for Good…</source>
        <translation>Supprimer définitivement…</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unpin</source>
        <translation>Désépingler</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pin</source>
        <translation>Épingler</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Unarchive</source>
        <translation>Désarchiver</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Archive</source>
        <comment>move to the archive</comment>
        <translation>Archiver</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Export</source>
        <translation>Exporter</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-54"/>
        <source>Print…</source>
        <translation>Imprimer…</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Trash</source>
        <translation>Placer dans la corbeille</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-44"/>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Delete Folder but Keep Chats</source>
        <translation>Supprimer le dossier, pas les discussions</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Folder</source>
        <translation>Déplacer vers un dossier</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No Folder</source>
        <translation>Aucun dossier</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>New Folder…</source>
        <translation>Nouveau dossier…</translation>
    </message>
    <message>
        <location line="+51"/>
        <source>New Folder</source>
        <translation>Nouveau dossier</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+27"/>
        <source>Folder {name}, {chats}, closed</source>
        <translation>Dossier {name}, {chats}, fermé</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Folder {name}, {chats}, open</source>
        <translation>Dossier {name}, {chats}, ouvert</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>pinned</source>
        <translation>épinglée</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>in a folder</source>
        <translation>dans un dossier</translation>
    </message>
    <message>
        <location line="+49"/>
        <source>Pinned</source>
        <translation>Épinglées</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Today</source>
        <translation>Aujourd’hui</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Yesterday</source>
        <translation>Hier</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Previous 7 days</source>
        <translation>7 derniers jours</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{month} {year}</source>
        <translation>{month} {year}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+50"/>
        <source>Shortcuts</source>
        <translation>Raccourcis</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Help</source>
        <translation>Aide</translation>
    </message>
    <message>
        <location line="+55"/>
        <source>Send the message</source>
        <translation>Envoyer le message</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+3"/>
        <source>Enter</source>
        <translation>Entrée</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>New line in a message</source>
        <translation>Aller à la ligne dans un message</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Shift+Enter</source>
        <translation>Maj+Entrée</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Enter, Shift+Enter</source>
        <translation>Entrée, Maj+Entrée</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous and next match while searching in a chat</source>
        <translation>Résultat précédent et suivant pendant la recherche dans une discussion</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Load the selected model</source>
        <translation>Charger le modèle sélectionné</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rename the selected chat</source>
        <translation>Renommer la discussion sélectionnée</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Action</source>
        <translation>Action</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Keys</source>
        <translation>Touches</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{part} (in {library})</source>
        <translation>{part} (dans {library})</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>see its package</source>
        <translation>voir le paquet</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Qt and PySide6 are used under the LGPL, version 3. They are libraries of their own, whose files can be replaced by changed ones. Their source is at {address}.</source>
        <translation>Qt et PySide6 sont utilisés sous la LGPL, version 3. Ce sont des bibliothèques distinctes, dont les fichiers peuvent être remplacés par des versions modifiées. Leur code source se trouve sur {address}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Sotto is under the MIT licence. It uses:</source>
        <translation>Sotto est sous licence MIT. Il utilise&#xa0;:</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Package</source>
        <translation>Paquet</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-5"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <source>Licence</source>
        <translation>Licence</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+8"/>
        <source>All licences</source>
        <translation>Toutes les licences</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-1"/>
        <source>Open this link in your browser?</source>
        <translation>Ouvrir ce lien dans votre navigateur&#xa0;?</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Writing a summary</source>
        <translation>Rédaction d’un résumé</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>A new chat will start with it.</source>
        <translation>Une nouvelle discussion commencera par celui-ci.</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Moved to the trash</source>
        <translation>Mise à la corbeille</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Delete “{title}” for good?</source>
        <translation>Supprimer «&#xa0;{title}&#xa0;» définitivement&#xa0;?</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This cannot be undone.</source>
        <translation>Cette action est irréversible.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Its chats are deleted for good.</source>
        <translation>Ses discussions seront supprimées définitivement.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty</source>
        <comment>empty the trash</comment>
        <translation>Vider</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty the trash?</source>
        <translation>Vider la corbeille&#xa0;?</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Folder deleted</source>
        <translation>Dossier supprimé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The chats in “{folder}” are still in the list.</source>
        <translation>Les discussions de «&#xa0;{folder}&#xa0;» sont toujours dans la liste.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>About your chats</source>
        <translation>À propos de vos discussions</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not saved</source>
        <translation>Non enregistré</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-73"/>
        <source>&amp;File</source>
        <translation>&amp;Fichier</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>New Chat Folder</source>
        <translation>Nouveau dossier de discussions</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model…</source>
        <translation>Ouvrir un modèle…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model Folder…</source>
        <translation>Ouvrir un dossier de modèle…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add Model Folder…</source>
        <translation>Ajouter un dossier de modèles…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model…</source>
        <translation>Obtenir un modèle…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model by Name…</source>
        <translation>Obtenir un modèle par son nom…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Manage Models…</source>
        <translation>Gérer les modèles…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rescan Models</source>
        <translation>Actualiser les modèles</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Attach Files…</source>
        <translation>Joindre des fichiers…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Import Chats…</source>
        <translation>Importer des discussions…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import Chat Folder…</source>
        <translation>Importer un dossier de discussions…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Export Chat</source>
        <translation>Exporter la discussion</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Export All Chats</source>
        <translation>Exporter toutes les discussions</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Export All as {form}…</source>
        <translation>Tout exporter en {form}…</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+3"/>
        <source>Settings…</source>
        <translation>Réglages…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Close Window</source>
        <translation>Fermer la fenêtre</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>&amp;Edit</source>
        <translation>É&amp;dition</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Redo</source>
        <translation>Rétablir</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cut</source>
        <translation>Couper</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Paste</source>
        <translation>Coller</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Select All</source>
        <translation>Tout sélectionner</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Find in Chat</source>
        <translation>Rechercher dans la discussion</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Search Chats and Models</source>
        <translation>Rechercher discussions et modèles</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Go to Models</source>
        <translation>Aller aux modèles</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>&amp;View</source>
        <translation>&amp;Affichage</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger Text</source>
        <translation>Texte plus grand</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Smaller Text</source>
        <translation>Texte plus petit</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Normal Text</source>
        <translation>Texte normal</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Sidebar</source>
        <translation>Barre latérale</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Command Palette</source>
        <translation>Palette de commandes</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Chat Settings</source>
        <translation>Réglages de la discussion</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Local Server</source>
        <translation>Serveur local</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>&amp;Help</source>
        <translation>A&amp;ide</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto Help</source>
        <translation>Aide de Sotto</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Report</source>
        <translation>Copier le rapport</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Logs</source>
        <translation>Afficher les journaux</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Check for Updates…</source>
        <translation>Rechercher des mises à jour…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Export as {form}…</source>
        <translation>Exporter en {form}…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/message_commands.py" line="+110"/>
        <source>Question deleted</source>
        <translation>Question supprimée</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Question and answer deleted|Question and {count} answers deleted</source>
        <translation>
            <numerusform>Question et réponse supprimées</numerusform>
            <numerusform>Question et {count} réponses supprimées</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Answer deleted|{count} answers deleted</source>
        <translation>
            <numerusform>Réponse supprimée</numerusform>
            <numerusform>{count} réponses supprimées</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The messages that follow are kept.</source>
        <translation>Les messages suivants sont conservés.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-1"/>
        <source>Working</source>
        <translation>En cours</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Reading</source>
        <translation>Lecture</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Writing</source>
        <translation>Écriture</translation>
    </message>
    <message>
        <location line="+92"/>
        <source>Cancelled</source>
        <translation>Annulée</translation>
    </message>
    <message numerus="yes">
        <location line="+20"/>
        <source>{read} → 1 token|{read} → {written} tokens</source>
        <translation>
            <numerusform>{read} → {written} token</numerusform>
            <numerusform>{read} → {written} tokens</numerusform>
        </translation>
    </message>
    <message>
        <location line="+67"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+30"/>
        <source>Requests</source>
        <translation>Requêtes</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-38"/>
        <location line="+117"/>
        <source>Show the key</source>
        <translation>Afficher la clé</translation>
    </message>
    <message>
        <location line="-112"/>
        <source>Clear the requests</source>
        <translation>Effacer les requêtes</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No requests yet</source>
        <translation>Aucune requête pour l’instant</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Settings of the local server</source>
        <translation>Réglages du serveur local</translation>
    </message>
    <message>
        <location line="+85"/>
        <source>Other programs can use your models while it is on.</source>
        <translation>Les autres programmes peuvent utiliser vos modèles tant qu’il est actif.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Starting…</source>
        <translation>Démarrage…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Hidden</source>
        <translation>Masquée</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide the key</source>
        <translation>Masquer la clé</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_status.py" line="+41"/>
        <source>Server off</source>
        <translation>Serveur inactif</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server could not start</source>
        <translation>Serveur en échec</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server on :{port}</source>
        <translation>Serveur sur&#xa0;:{port}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server starting…</source>
        <translation>Démarrage du serveur…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 request|{count} requests</source>
        <translation>
            <numerusform>{count} requête</numerusform>
            <numerusform>{count} requêtes</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/sidebar.py" line="+55"/>
        <source>Search chats and models</source>
        <translation>Rechercher</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Hide sidebar</source>
        <translation>Masquer la barre latérale</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/welcome.py" line="+22"/>
        <source>Explain how a rainbow forms, in three sentences.</source>
        <translation>Explique en trois phrases comment se forme un arc-en-ciel.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Suggest a name for a small sailing boat.</source>
        <translation>Propose un nom pour un petit voilier.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What makes bread rise?</source>
        <translation>Qu’est-ce qui fait lever le pain&#xa0;?</translation>
    </message>
    <message>
        <location line="+83"/>
        <source>Welcome to Sotto</source>
        <translation>Bienvenue dans Sotto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose a model in the list to chat with it. Nothing you write leaves your computer.</source>
        <translation>Choisissez un modèle dans la liste pour discuter avec lui. Rien de ce que vous écrivez ne quitte votre ordinateur.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Ask about Sotto</source>
        <translation>Une question sur Sotto&#xa0;?</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Ask {model}</source>
        <translation>Une question pour {model}&#xa0;?</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The model is loading. You can start writing.</source>
        <translation>Le modèle se charge. Vous pouvez commencer à écrire.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>I’m the small model that comes with Sotto.</source>
        <translation>Je suis le petit modèle fourni avec Sotto.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It runs on your computer.</source>
        <translation>Il s’exécute sur votre ordinateur.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Ask: {question}</source>
        <translation>Demander&#xa0;: {question}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+1"/>
        <source>Open model</source>
        <translation>Ouvrir un modèle</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Open model folder</source>
        <translation>Ouvrir un dossier de modèle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/file_names.py" line="+22"/>
        <source>chat</source>
        <translation>discussion</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="-1"/>
        <source>That was when you last used it. Your chats are saved.</source>
        <translation>C’était lors de la dernière utilisation. Vos discussions sont enregistrées.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>This error keeps it from running. Your chats are saved.</source>
        <translation>Cette erreur l’en empêche. Vos discussions sont enregistrées.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto cannot start</source>
        <translation>Sotto ne peut pas démarrer</translation>
    </message>
    <message>
        <location line="+39"/>
        <source>An error occurred in Sotto. Your chats are saved, and you can go on.</source>
        <translation>Une erreur s’est produite dans Sotto. Vos discussions sont enregistrées et vous pouvez continuer.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Something went wrong</source>
        <translation>Un problème est survenu</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/bug_report.py" line="+41"/>
        <source>Writing a report</source>
        <translation>Rédaction d’un rapport</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It has no messages, keys or names of chats.</source>
        <translation>Il ne contient ni messages, ni clés, ni noms de discussions.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Report copied</source>
        <translation>Rapport copié</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Paste it into your bug report.</source>
        <translation>Collez-le dans votre rapport d’erreur.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_portal.py" line="+24"/>
        <source>The desktop did not change whether Sotto starts at login.</source>
        <translation>L’environnement de bureau n’a pas modifié le lancement de Sotto à l’ouverture de session.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The quick prompt is there at once.</source>
        <translation>Le prompt rapide est disponible immédiatement.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/address_opener.py" line="+50"/>
        <source>Address not opened</source>
        <translation>Adresse non ouverte</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Add this text to your draft?</source>
        <translation>Ajouter ce texte à votre brouillon ?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add</source>
        <comment>to the draft</comment>
        <translation>Ajouter</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>There is no chat with the number {number}.</source>
        <translation>Il n’y a pas de discussion portant le numéro {number}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/own_addresses.py" line="+71"/>
        <source>The address is longer than {count} characters, so it is not opened.</source>
        <translation>L’adresse compte plus de {count} caractères, elle n’est donc pas ouverte.</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Sotto opens sotto://model/NAME, sotto://chat/NUMBER and sotto://ask?text=TEXT, not {address}.</source>
        <translation>Sotto ouvre sotto://model/NOM, sotto://chat/NUMÉRO et sotto://ask?text=TEXTE, pas {address}.</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>The address is not opened, because it is not encoded as UTF-8 text.</source>
        <translation>L’adresse n’est pas ouverte, car elle n’est pas encodée comme texte UTF-8.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The address is not opened, because it holds characters that cannot be seen.</source>
        <translation>L’adresse n’est pas ouverte, car elle contient des caractères invisibles.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="-9"/>
        <source>Sotto {version} is available</source>
        <translation>Sotto {version} est disponible</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>What is new</source>
        <translation>Nouveautés</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Look for new versions once a day?</source>
        <translation>Rechercher les nouvelles versions une fois par jour ?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto then reads a list from one address; nothing about you is sent, and nothing is installed.</source>
        <translation>Sotto lit alors une liste à une seule adresse ; rien sur vous n’est envoyé et rien n’est installé.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/updates_page.py" line="+26"/>
        <source>Updates</source>
        <translation>Mises à jour</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+11"/>
        <source>Look for new versions</source>
        <translation>Rechercher les nouvelles versions</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>Check now</source>
        <translation>Rechercher maintenant</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Once a day, Sotto reads a signed list from {address}, which learns your network address and nothing else; it downloads and installs nothing.</source>
        <translation>Une fois par jour, Sotto lit une liste signée à l’adresse {address}, qui apprend votre adresse réseau et rien d’autre ; rien n’est téléchargé ni installé.</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Open download page</source>
        <translation>Ouvrir la page de téléchargement</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>How to get it</source>
        <translation>Comment l’obtenir</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>This build cannot look for new versions, because it has no key to check them with.</source>
        <translation>Cette version ne peut pas rechercher de mises à jour, car elle n’a pas de clé pour les vérifier.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Looking…</source>
        <translation>Recherche…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Version {version} is available.</source>
        <translation>La version {version} est disponible.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This is the newest version.</source>
        <translation>C’est la version la plus récente.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Not looked for yet.</source>
        <translation>Pas encore recherché.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last looked for {ago}.</source>
        <translation>Dernière recherche : {ago}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/updating/release_advice.py" line="+9"/>
        <source>Sotto belongs to your system’s packages: install the new one with the software centre, or with “sudo apt install ./sotto_{version}_….deb”.</source>
        <translation>Sotto fait partie des paquets de votre système : installez le nouveau avec la logithèque, ou avec « sudo apt install ./sotto_{version}_….deb ».</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Update Sotto in the software centre, or with “flatpak update {program}”.</source>
        <translation>Mettez Sotto à jour dans la logithèque, ou avec « flatpak update {program} ».</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a checkout of its sources: “git pull” brings the new version.</source>
        <translation>Ce Sotto est une copie de ses sources : « git pull » apporte la nouvelle version.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a Python package: install the new wheel in the same environment.</source>
        <translation>Ce Sotto est un paquet Python : installez le nouveau wheel dans le même environnement.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Download the new AppImage, and put it in the place of this one.</source>
        <translation>Téléchargez la nouvelle AppImage et mettez-la à la place de celle-ci.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and put its folder in the place of this one.</source>
        <translation>Téléchargez la nouvelle version, quittez Sotto et mettez son dossier à la place de celui-ci.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and drag it over this one.</source>
        <translation>Téléchargez la nouvelle version, quittez Sotto et faites-la glisser sur celle-ci.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customizing.py" line="+74"/>
        <source>{name} cannot be customized</source>
        <translation>{name} ne peut pas être personnalisé</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Customize {name}</source>
        <translation>Personnaliser {name}</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>There is one of this name; it will be replaced.</source>
        <translation>Il en existe un de ce nom ; il sera remplacé.</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Hello! Who are you?</source>
        <translation>Bonjour ! Qui es-tu ?</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>I am here to help.</source>
        <translation>Je suis là pour aider.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>What is the capital of France?</source>
        <translation>Quelle est la capitale de la France ?</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Creating…</source>
        <translation>Création…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>{name} was created</source>
        <translation>{name} a été créé</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>Its weights were copied from {name}.</source>
        <translation>Ses poids ont été copiés de {name}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It shares its weights with {name}.</source>
        <translation>Il partage ses poids avec {name}.</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Copying… {share}</source>
        <translation>Copie… {share}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="-110"/>
        <source>Rename {name}</source>
        <translation>Renommer {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-4"/>
        <source>Rename</source>
        <translation>Renommer</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Duplicate {name}</source>
        <translation>Dupliquer {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Both share their files, so that the copy takes up no space.</source>
        <translation>Les deux partagent leurs fichiers, si bien que la copie n’occupe pas de place.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Duplicate</source>
        <translation>Dupliquer</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep a copy of {name}</source>
        <translation>Garder une copie de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The copy stays when {program} deletes the model. Where the disk can share files, it takes up no space: either as a clone, or as a link, which is one file with two names.</source>
        <translation>La copie reste quand {program} supprime le modèle. Là où le disque peut partager des fichiers, elle n’occupe pas de place : comme clone, ou comme lien, c’est-à-dire un fichier à deux noms.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep</source>
        <comment>keep a copy of a model</comment>
        <translation>Garder</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>{name} was duplicated</source>
        <translation>{name} a été dupliqué</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is kept</source>
        <translation>{name} est gardé</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>{name} was renamed</source>
        <translation>{name} a été renommé</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>{size} shared with {program}</source>
        <translation>{size} partagés avec {program}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} copied</source>
        <translation>{size} copiés</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_controller.py" line="+144"/>
        <source>Looking at its files…</source>
        <translation>Examen des fichiers…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its owner must allow the download first.</source>
        <translation>Son propriétaire doit d’abord autoriser le téléchargement.</translation>
    </message>
    <message>
        <location line="+65"/>
        <source>What you type here is sent to {host}.</source>
        <translation>Ce que vous saisissez ici est envoyé à {host}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Searching…</source>
        <translation>Recherche…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Nothing was found there.</source>
        <translation>Rien n’y a été trouvé.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="-134"/>
        <source>Models to download</source>
        <translation>Modèles à télécharger</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="-35"/>
        <source>Folder…</source>
        <translation>Dossier…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>GGUF file…</source>
        <translation>Fichier GGUF…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>GGUF files</source>
        <translation>Fichiers GGUF</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-48"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-216"/>
        <source>Import a model</source>
        <translation>Importer un modèle</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is being imported already; choose another name.</source>
        <translation>{name} est déjà en cours d’importation ; choisissez un autre nom.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="-62"/>
        <source>Preparing the import</source>
        <translation>Préparation de l’importation</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Importing</source>
        <translation>Importation</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Measuring the quality</source>
        <translation>Mesure de la qualité</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>{name} could not be imported</source>
        <translation>{name} n’a pas pu être importé</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It takes {size}.</source>
        <translation>Il occupe {size}.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Perplexity {before} → {after}, KL divergence {divergence}, the same token in {share} %.</source>
        <translation>Perplexité {before} → {after}, divergence KL {divergence}, même jeton dans {share} %.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-1"/>
        <source>Cancel the import of {name}</source>
        <translation>Annuler l’importation de {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Imported</source>
        <translation>Importé</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>Resume the import of {name}</source>
        <translation>Reprendre l’importation de {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pause the import of {name}</source>
        <translation>Suspendre l’importation de {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Imports</source>
        <translation>Importations</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-40"/>
        <source>Import {name}</source>
        <translation>Importer {name}</translation>
    </message>
    <message>
        <location line="+10"/>
        <location line="+34"/>
        <source>Quantization</source>
        <translation>Quantification</translation>
    </message>
    <message>
        <location line="-31"/>
        <location line="+32"/>
        <source>Measure the quality</source>
        <translation>Mesurer la qualité</translation>
    </message>
    <message>
        <location line="-30"/>
        <location line="+75"/>
        <source>Reading the model…</source>
        <translation>Lecture du modèle…</translation>
    </message>
    <message>
        <location line="-72"/>
        <source>Use where it is</source>
        <translation>Utiliser sur place</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Import</source>
        <translation>Importer</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>8 bits ({name})</source>
        <translation>8 bits ({name})</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits ({name})</source>
        <translation>4 bits ({name})</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep as it is</source>
        <translation>Garder tel quel</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Against the original, when it is imported</source>
        <translation>Par rapport à l’original, après l’importation</translation>
    </message>
    <message>
        <location line="+72"/>
        <source>It will take {size} on the disk.</source>
        <translation>Il occupera {size} sur le disque.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Its weights need {size} of memory, and {free} are free.</source>
        <translation>Ses poids demandent {size} de mémoire ; {free} sont libres.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It fits.</source>
        <translation>Il tient.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It does not fit now; fewer bits may help.</source>
        <translation>Il ne tient pas pour l’instant ; moins de bits peuvent aider.</translation>
    </message>
    <message>
        <location line="+57"/>
        <source>There is a model {name} already; choose another name.</source>
        <translation>Il existe déjà un modèle {name} ; choisissez un autre nom.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/running_imports.py" line="+90"/>
        <source>Earlier imports could not be read</source>
        <translation>Les importations précédentes n’ont pas pu être lues</translation>
    </message>
    <message>
        <location line="+142"/>
        <source>The process that measures ended unexpectedly.</source>
        <translation>Le processus de mesure s’est terminé de façon inattendue.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attachment_control.py" line="+72"/>
        <source>Pasted image</source>
        <translation>Image collée</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer_controller.py" line="+70"/>
        <source>No screenshot</source>
        <translation>Pas de capture d’écran</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/screenshots.py" line="+107"/>
        <source>The desktop did not take one: take it with another program, and paste it here.</source>
        <translation>Le bureau n’en a pas fait&#xa0;: faites-la avec un autre programme et collez-la ici.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Screenshot</source>
        <translation>Capture d’écran</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_button.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-92"/>
        <source>Image {name}</source>
        <translation>Image {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Shows it whole</source>
        <translation>L’affiche en entier</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-8"/>
        <source>Zoom out</source>
        <translation>Zoom arrière</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom in</source>
        <translation>Zoom avant</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom to fit</source>
        <translation>Ajuster à la fenêtre</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy image</source>
        <translation>Copier l’image</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Save image as…</source>
        <translation>Enregistrer l’image sous…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Opening…</source>
        <translation>Ouverture…</translation>
    </message>
    <message>
        <location line="+99"/>
        <source>Save image as</source>
        <translation>Enregistrer l’image sous</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Saved</source>
        <translation>Enregistré</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/exported_images.py" line="+26"/>
        <source>{name} images</source>
        <translation>{name} images</translation>
    </message>
</context>
</TS>
